"""The parts of evaluating and predicting that need no TensorFlow."""

import io
import itertools
import json
import threading
import time
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from gpupanel.domain.data import Target
from gpupanel.domain.events import ExamplesDone, decode_event
from gpupanel.domain.model import MlpModel, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.files.label_metrics_file import read_label_metrics, write_label_metrics
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.confusion_counts import ConfusionCounts
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.meaning import OutputMeaning, read_outputs
from gpupanel.trainer.inference.predictions import write_predictions
from gpupanel.trainer.inference.spread import Spread
from gpupanel.trainer.models.model_file import check_model_file, saved_model_path
from gpupanel.trainer.parts.output_meaning import (
    Activation,
    Meaning,
    label_probabilities,
    scores_of,
)
from gpupanel.trainer.parts.predictions import Predictions
from gpupanel.trainer.progress import ExampleReports

KERAS_LAYER = {"module": "keras.layers", "class_name": "Dense", "registered_name": None}


def weights() -> bytes:
    """A file of HDF5 as Keras writes it, with numbers that can be found in it again."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["layers/dense/vars/0"] = np.frombuffer(b"weights " * 1000, np.float32)
    return content.getvalue()


def model_file(folder: Path, *parts: dict[str, Any], name: str = "m.keras") -> Path:
    path = folder / name
    config = {**KERAS_LAYER, "config": {"layers": [{**KERAS_LAYER, "config": {}}, *parts]}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", weights())
    return path


def refusal(path: Path | str) -> tuple[str, str]:
    with pytest.raises(ProblemError) as caught:
        check_model_file(str(path))
    (problem,) = caught.value.problems
    assert problem.field == "model.path"
    assert problem.hint
    return problem.code, problem.message


def test_that_a_model_of_keras_layers_is_taken(tmp_path: Path) -> None:
    tensor = {"class_name": "__keras_tensor__", "config": {"shape": [1]}}
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}}
    own = {"module": "keras.src.models", "class_name": "Functional", "registered_name": "F"}
    type_of = {"module": "builtins", "class_name": "type", "config": "x", "registered_name": "t"}
    check_model_file(str(model_file(tmp_path, tensor, policy, own, type_of)))


def test_that_only_a_saved_model_has_a_path() -> None:
    assert saved_model_path(SavedModel(path="/m.keras")) == "/m.keras"
    with pytest.raises(ProblemError, match="Only a saved model"):
        saved_model_path(MlpModel())


def test_that_a_file_that_is_no_model_is_distinguished_from_one_that_is_not_there(
    tmp_path: Path,
) -> None:
    assert refusal("")[0] == "model_path_missing"
    assert refusal(tmp_path / "none.keras")[0] == "model_file_missing"
    assert refusal(tmp_path)[0] == "model_file_not_keras"
    other = model_file(tmp_path, name="model.txt")
    assert refusal(other) == (
        "model_file_not_keras",
        f'{other} is not a .keras file: its name ends in ".txt".',
    )


def test_that_a_model_of_another_format_is_told_what_opens_it(tmp_path: Path) -> None:
    def hint(path: Path, words: str) -> str:
        with pytest.raises(ProblemError, match=words) as caught:
            check_model_file(str(path))
        return caught.value.problems[0].hint

    assert "Open it in Keras" in hint(model_file(tmp_path, name="model.h5"), "older HDF5")
    assert "Open it" not in hint(model_file(tmp_path, name="model.onnx"), "ONNX")
    (tmp_path / "saved_model.pb").write_bytes(b"")
    folder = hint(tmp_path, "is a SavedModel, which Keras cannot open")
    assert "where it was made" in folder
    assert "Open it in Keras" not in folder


@pytest.mark.parametrize("damage", ["cut short", "text", "flipped", "no weights", "no config"])
def test_that_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    path = model_file(tmp_path)
    content = path.read_bytes()
    if damage == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "text":
        path.write_text("not a model")
    elif damage == "flipped":
        path.write_bytes(content.replace(b"weights weights", b"weights WEIGHTS", 1))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            kept = "config.json" if damage == "no weights" else "model.weights.h5"
            archive.writestr(kept, "{}")
    assert refusal(path)[0] == "model_file_damaged"


@pytest.mark.parametrize(
    "part",
    [
        {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "twice"}},
        {"function": {"class_name": "__lambda__", "config": {"code": "4wEA"}}},
        {"module": "keras.layers", "class_name": "TFSMLayer", "config": {"name": "twice"}},
    ],
)
def test_that_code_in_a_model_is_not_run(tmp_path: Path, part: dict[str, Any]) -> None:
    code, message = refusal(model_file(tmp_path, part))
    assert code == "model_runs_code"
    assert "twice" in message or "__lambda__" in message


@pytest.mark.parametrize(
    "part",
    [
        {"module": None, "class_name": "Mine", "config": {}, "registered_name": "p>Mine"},
        {"module": "somewhere.else", "class_name": "Mine", "config": {}},
        {"module": "builtins", "class_name": "function", "config": "Mine"},
    ],
)
def test_that_classes_of_other_people_are_named(tmp_path: Path, part: dict[str, Any]) -> None:
    code, message = refusal(model_file(tmp_path, part))
    assert code == "model_needs_code"
    assert "Mine" in message


def test_that_many_names_are_shortened(tmp_path: Path) -> None:
    parts = [{"module": "other", "class_name": f"Layer{n}", "config": {}} for n in range(9)]
    assert ", ...)" in refusal(model_file(tmp_path, *parts))[1]


def floats(*rows: tuple[float, ...]) -> np.ndarray:
    return np.asarray(rows, np.float32)


@pytest.mark.parametrize(
    ("activation", "outputs", "classes", "meaning", "assumed"),
    [
        (Activation.SOFTMAX, floats((3.0, -9.0)), 2, Meaning.LOGITS, ""),
        (Activation.LINEAR, floats((0.4, 0.6)), 2, Meaning.LOGITS, "no softmax"),
        (Activation.SIGMOID, floats((0.4, 0.9)), 2, Meaning.PROBABILITIES, "sigmoid"),
        (Activation.UNKNOWN, floats((0.4, 0.6)), 2, Meaning.PROBABILITIES, "sum to 1"),
        (Activation.UNKNOWN, floats((0.4, 0.7)), 2, Meaning.LOGITS, "not probabilities"),
        (Activation.UNKNOWN, floats((-0.4, 1.4)), None, Meaning.LOGITS, "not probabilities"),
        (Activation.SIGMOID, floats((3.0,)), None, Meaning.BINARY_LOGIT, ""),
        (Activation.LINEAR, floats((3.0,)), 2, Meaning.BINARY_LOGIT, "no sigmoid"),
        (Activation.LINEAR, floats((3.0,)), None, Meaning.VALUES, "no labels"),
        (Activation.UNKNOWN, floats((0.3,)), 2, Meaning.BINARY_PROBABILITY, "between 0 and 1"),
        (Activation.UNKNOWN, floats((1.3,)), 2, Meaning.BINARY_LOGIT, "no sigmoid"),
    ],
)
def test_that_outputs_are_understood_and_guesses_are_reported(
    activation: Activation,
    outputs: np.ndarray,
    classes: int | None,
    meaning: Meaning,
    assumed: str,
) -> None:
    reading = read_outputs(activation, outputs, classes, Target.CLASSES)
    assert reading.meaning is meaning
    assert reading.class_count == (0 if meaning is Meaning.VALUES else 2)
    reported = "" if reading.hint is None else reading.hint.message
    assert assumed in reported
    assert bool(assumed) == bool(reported)
    values = read_outputs(activation, outputs[:, :1], None, Target.VALUES)
    assert (values.meaning, values.class_count, values.hint) == (Meaning.VALUES, 0, None)


def test_that_probabilities_follow_from_outputs_of_any_meaning() -> None:
    logits = scores_of(floats((1000.0, 0.0), (0.0, 0.0)), Meaning.LOGITS)
    assert logits.probabilities.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert logits.logarithms[0].tolist() == [0.0, -1000.0]
    binary = scores_of(floats((0.0,), (-1000.0,)), Meaning.BINARY_LOGIT)
    assert binary.probabilities.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    chance = scores_of(floats((0.25,)), Meaning.BINARY_PROBABILITY)
    assert chance.probabilities.tolist() == [[0.75, 0.25]]
    np.testing.assert_allclose(np.exp(chance.logarithms), [[0.75, 0.25]], rtol=1e-6)
    scores = scores_of(floats((0.2, 0.6), (0.0, 0.0)), Meaning.PROBABILITIES)
    np.testing.assert_allclose(np.exp(scores.logarithms[0]), [0.25, 0.75], rtol=1e-6)
    assert np.isfinite(scores.logarithms).all()


def test_that_a_sum_over_parts_is_the_sum_over_all() -> None:
    random = np.random.default_rng(0)
    logits = random.normal(size=(100, 4)).astype(np.float32)
    labels = random.integers(0, 4, 100).astype(np.int32)
    whole, parts = (Evaluation(labels, OutputMeaning(Meaning.LOGITS, 4)) for _ in range(2))
    whole.add(100, [whole.digest(logits, 0)])
    for first, end in ((0, 33), (33, 34), (34, 100)):
        parts.add(end - first, [parts.digest(logits[first:end], first)])
    for one, other in zip(cells(parts.confusion, 4), cells(whole.confusion, 4), strict=True):
        assert one.tolist() == other.tolist()
    assert cells(whole.confusion, 4)[2].sum() == 100
    assert parts.metrics.loss == pytest.approx(whole.metrics.loss, rel=1e-7)
    assert whole.metrics.accuracy == (logits.argmax(axis=1) == labels).mean()


def test_that_values_have_errors_and_no_classes() -> None:
    evaluation = Evaluation(np.asarray([1.0, 5.0], np.float32), OutputMeaning(Meaning.VALUES, 0))
    evaluation.add(2, [evaluation.digest(floats((2.0,), (2.0,)), 0)])
    assert (evaluation.metrics.loss, evaluation.metrics.mean_absolute_error) == (5.0, 2.0)
    assert evaluation.metrics.accuracy is None
    assert [len(each) for each in cells(evaluation.confusion, 0)] == [0, 0, 0]


def test_that_the_matrix_of_thousands_of_classes_is_counted_without_its_zeros() -> None:
    count, examples = 10_000, 100_000
    random = np.random.default_rng(5)
    labels = random.integers(0, count, examples).astype(np.int32)
    taken = random.integers(0, count, examples)
    confusion = ConfusionCounts(count)
    tracemalloc.start()
    for first in range(0, examples, 250):
        part = slice(first, first + 250)
        confusion.add(labels[part].astype(np.int64), taken[part])
    rows, columns, counts = cells(confusion, count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 40 * 2**20  # the whole matrix would take 800 MB
    places, wanted = np.unique(labels.astype(np.int64) * count + taken, return_counts=True)
    assert (rows * count + columns).tolist() == places.tolist()
    assert counts.tolist() == wanted.tolist()


def cells(counted: ConfusionCounts, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = counted.cells(tuple(map(str, range(classes))))
    return found.rows, found.columns, found.counts


class Device:
    """Doubles its examples, some time later, and remembers what it was given."""

    def __init__(self, seconds: float = 0.0, wait_for: threading.Barrier | None = None) -> None:
        self.seconds = seconds
        self.wait_for = wait_for
        self.seen: list[list[float]] = []

    def __call__(self, features: np.ndarray) -> np.ndarray:
        self.seen.append(features[:, 0].tolist())
        if self.wait_for is not None:
            self.wait_for.wait(10.0)
        time.sleep(self.seconds)
        return features * 2


def rows(first: int, end: int) -> np.ndarray:
    return np.arange(first, end, dtype=np.float32)[:, np.newaxis]


def spread_over(devices: list[Device], shares: list[int]) -> Spread[list[float]]:
    return Spread(devices, shares, rows, lambda outputs, _first: outputs[:, 0].tolist())


@pytest.mark.parametrize("examples", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("shares", [[8], [3, 1], [5, 2, 1]])
def test_that_results_come_in_input_order_each_example_once(
    shares: list[int], examples: int
) -> None:
    devices = [Device(0.003 if number == 0 else 0.0) for number, _ in enumerate(shares)]
    found: list[float] = []
    for count, parts in spread_over(devices, shares).batches(examples):
        assert sum(map(len, parts)) == count
        for part in parts:
            found += part
    assert found == [2.0 * number for number in range(examples)]
    seen = sorted(number for device in devices for part in device.seen for number in part)
    assert seen == list(range(examples))
    for device, share in zip(devices, shares, strict=True):
        full = [part for part in device.seen if max(part) < examples // sum(shares) * sum(shares)]
        assert {len(part) for part in full} <= {share}


def test_that_all_devices_and_two_parts_of_each_are_at_work_at_once() -> None:
    together = threading.Barrier(4)
    devices = [Device(wait_for=together) for _ in range(2)]
    assert len(list(spread_over(devices, [1, 1]).batches(4))) == 2


@pytest.mark.parametrize("examples", [1, 2, 7, 8, 9, 100])
def test_that_processes_that_each_do_their_part_come_to_all_of_it(examples: int) -> None:
    shares, process = [3, 2, 1, 2], [0, 0, 1, 2]
    streams: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for place in (1, 2):
        own = [Device() if each == place else None for each in process]
        spread = Spread(own, shares, rows, lambda outputs, _first: outputs[:, 0].tolist())
        for _, parts in spread.batches(examples):
            streams[place] += [number for part in parts for number in part]

    def others(replica: int, count: int) -> np.ndarray:
        stream = streams[process[replica]]
        taken = [stream.pop(0) for _ in range(count)]
        return np.array(taken, np.float32)[:, np.newaxis]

    own = [Device() if each == 0 else None for each in process]
    leader = Spread(
        own, shares, rows, lambda outputs, first: (first, outputs[:, 0].tolist()), others
    )
    found: list[float] = []
    for count, parts in leader.batches(examples):
        assert sum(len(part) for _, part in parts) == count
        for first, part in parts:
            assert first == len(found)
            found += part
    assert found == [2.0 * number for number in range(examples)]
    assert not any(streams.values())


def test_that_a_device_that_fails_ends_it_with_its_error() -> None:
    def failing(features: np.ndarray) -> np.ndarray:
        raise RuntimeError("this device is gone")

    spread = Spread([Device(), failing], [1, 1], rows, lambda outputs, _first: outputs)
    with pytest.raises(RuntimeError, match="this device is gone"):
        list(spread.batches(100))
    assert not [each for each in threading.enumerate() if each.name.startswith("replica")]


def test_that_nothing_goes_on_once_nobody_asks() -> None:
    device = Device(0.01)
    with closing(spread_over([device], [1]).batches(10_000)) as batches:
        next(batches)
    seen = len(device.seen)
    assert seen < 12
    assert not [each for each in threading.enumerate() if each.name.startswith("replica")]


def predictions(**parts: Any) -> Predictions:
    given = {
        "indices": np.asarray([3, 5], np.int32),
        "labels": np.asarray([1, 0], np.int32),
        "class_names": ("cat", 'a "dog", big'),
        "numbers": floats((0.25, 0.75), (1.0, 0.0)),
    }
    return Predictions(**{**given, **parts})


def test_that_npz_is_read_without_pickle(tmp_path: Path) -> None:
    path = tmp_path / "predictions.npz"
    write_predictions(predictions(), path)
    with np.load(path, allow_pickle=False) as found:
        assert found["index"].tolist() == [3, 5]
        assert found["predicted"].tolist() == [1, 0]
        assert found["label"].tolist() == [1, 0]
        assert found["probabilities"].tolist() == [[0.25, 0.75], [1.0, 0.0]]
        assert found["class_names"].tolist() == ["cat", 'a "dog", big']
    write_predictions(
        predictions(labels=None, class_names=(), numbers=floats((7.0,), (8.0,))), path
    )
    with np.load(path, allow_pickle=False) as found:
        assert set(found) == {"index", "values"}
        assert found["values"].tolist() == [7.0, 8.0]


def test_that_csv_quotes_names_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    write_predictions(predictions(), path)
    columns = "index,predicted_name,predicted,label_name,label,probability of cat"
    assert path.read_text().splitlines() == [
        f'{columns},"probability of a ""dog"", big"',
        '3,"a ""dog"", big",1,"a ""dog"", big",1,0.25,0.75',
        "5,cat,0,cat,0,1,0",
    ]
    write_predictions(predictions(labels=None), path)
    assert path.read_text().splitlines()[2] == "5,cat,0,1,0"
    values = {"class_names": (), "numbers": floats((7.5,), (8.0,))}
    write_predictions(predictions(labels=floats((1.5, 2.0))[0], **values), path)
    assert path.read_text().splitlines() == ["index,label,value", "3,1.5,7.5", "5,2,8"]


@pytest.mark.parametrize("name", ["predictions.npz", "predictions.csv"])
def test_that_a_file_that_cannot_be_written_whole_is_not_there_at_all(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_predictions(predictions(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_that_progress_is_reported_at_most_20_times_a_second_and_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        progress, added = ExampleReports(writer, 10**9), 0
        while path.read_bytes().count(b"\n") < 4:
            progress.add(1)
            added += 1
            time.sleep(0.001)
        progress.add(10**9 - added)
    reported = [decode_event(line) for line in path.read_text().splitlines()]
    assert all(isinstance(event, ExamplesDone) for event in reported)
    times = [event.time_s for event in reported[:-1]]
    assert len(times) >= 2
    assert all(later - earlier > 0.05 for earlier, later in itertools.pairwise(times))
    last = reported[-1]
    assert isinstance(last, ExamplesDone)
    assert (last.examples, last.examples_total) == (10**9, 10**9)
    assert last.examples_per_second > 0


@pytest.mark.parametrize(
    ("activation", "outputs", "meaning", "assumed"),
    [
        (Activation.SIGMOID, floats((3.0, -9.0)), Meaning.LABEL_LOGITS, ""),
        (Activation.LINEAR, floats((0.4, 0.6)), Meaning.LABEL_LOGITS, "not a sigmoid"),
        (Activation.UNKNOWN, floats((0.4, 0.9)), Meaning.LABEL_PROBABILITIES, "between 0 and 1"),
        (Activation.UNKNOWN, floats((0.4, 1.9)), Meaning.LABEL_LOGITS, "not a sigmoid"),
    ],
)
def test_that_outputs_of_several_labels_are_understood_and_guesses_are_reported(
    activation: Activation, outputs: np.ndarray, meaning: Meaning, assumed: str
) -> None:
    reading = read_outputs(activation, outputs, 2, Target.LABELS)

    assert (reading.meaning, reading.class_count, reading.label_count) == (meaning, 0, 2)
    assert (reading.hint is None) is not bool(assumed)
    assert reading.hint is None or assumed in reading.hint.message


def test_that_several_labels_are_measured_as_means_over_them() -> None:
    labels = np.float32([[1, 0], [0, 0], [1, 1]])
    logits = np.float32([[2.0, -1.0], [0.5, -3.0], [-40.0, 200.0]])
    probabilities = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    right = np.where(labels > 0, probabilities, 1.0 - probabilities)

    for outputs, meaning, losses in (
        (logits, Meaning.LABEL_LOGITS, -np.log(right)),
        (
            probabilities.astype(np.float32),
            Meaning.LABEL_PROBABILITIES,
            -np.log(np.clip(right, 1e-7, 1.0)),
        ),
    ):
        evaluation = Evaluation(labels, OutputMeaning(meaning, 0, label_count=2))
        evaluation.add(3, [evaluation.digest(outputs[:2], 0), evaluation.digest(outputs[2:], 2)])
        assert evaluation.metrics.loss == pytest.approx(losses.mean(), rel=1e-5)
        assert evaluation.metrics.accuracy == pytest.approx(4 / 6)
        found = label_probabilities(outputs, meaning)
        assert found == pytest.approx(probabilities, rel=1e-5, abs=1e-7)


def test_that_several_values_are_measured_as_means_over_them() -> None:
    labels = np.float32([[1.0, 20.0], [3.0, 40.0]])
    evaluation = Evaluation(labels, OutputMeaning(Meaning.VALUES, 0))
    evaluation.add(2, [evaluation.digest(labels + np.float32([[1.0, -2.0], [0.0, 3.0]]), 0)])
    assert evaluation.metrics.loss == pytest.approx((1 + 4 + 0 + 9) / 4)
    assert evaluation.metrics.mean_absolute_error == pytest.approx((1 + 2 + 0 + 3) / 4)


def test_that_predictions_of_several_labels_say_which_each_example_has(tmp_path: Path) -> None:
    several = predictions(
        indices=np.arange(2, dtype=np.int32),
        labels=np.float32([[1, 1], [0, 0]]),
        class_names=("sun", "rain"),
        numbers=np.float32([[0.75, 0.5], [0.625, 0.875]]),
        of_labels=True,
    )
    write_predictions(several, tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines() == [
        "index,predicted_names,label_names,probability of sun,probability of rain",
        "0,sun,sun|rain,0.75,0.5",
        "1,sun|rain,,0.625,0.875",
    ]
    write_predictions(several, tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as arrays:
        assert arrays["predicted"].tolist() == [[1, 0], [1, 1]]
        assert arrays["label"].tolist() == [[1, 1], [0, 0]]


def test_that_predictions_of_several_values_have_a_column_each(tmp_path: Path) -> None:
    several = predictions(
        indices=np.arange(1, dtype=np.int32),
        labels=np.float32([[1.5, 2.0]]),
        class_names=(),
        numbers=np.float32([[1.25, 2.5]]),
    )
    write_predictions(several, tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines() == [
        "index,label 1,label 2,value 1,value 2",
        "0,1.5,2,1.25,2.5",
    ]
    write_predictions(several, tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as arrays:
        assert arrays["values"].tolist() == [[1.25, 2.5]]


def test_that_what_became_of_each_example_is_kept_in_the_order_of_the_data() -> None:
    labels = np.asarray([1, 0, 1], np.int32)
    evaluation = Evaluation(labels, OutputMeaning(Meaning.PROBABILITIES, 2))
    outputs = floats((0.25, 0.75), (0.5, 0.5), (0.875, 0.125))
    for first, end in ((0, 2), (2, 3)):
        evaluation.add(end - first, [evaluation.digest(outputs[first:end], first)])
    kept = evaluation.examples(np.asarray([4, 7, 9], np.int32))
    assert kept is not None
    assert kept.index.tolist() == [4, 7, 9]
    assert kept.label.tolist() == [1, 0, 1]
    assert kept.predicted.tolist() == [1, 0, 0]
    assert kept.probability.tolist() == [0.75, 0.5, 0.875]
    assert kept.label_probability.tolist() == [0.75, 0.5, 0.125]
    assert evaluation.examples(np.arange(4, dtype=np.int32)) is None


def test_that_of_too_many_examples_it_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpupanel.trainer.inference.evaluation.MOST_EXAMPLES", 2)
    evaluation = Evaluation(np.zeros(3, np.int32), OutputMeaning(Meaning.PROBABILITIES, 2))
    evaluation.add(3, [evaluation.digest(floats((1, 0), (1, 0), (0, 1)), 0)])
    assert evaluation.examples(np.arange(3, dtype=np.int32)) is None


def test_that_several_labels_are_counted_each(tmp_path: Path) -> None:
    labels = np.float32([[1, 0], [0, 0], [1, 1]])
    outputs = np.float32([[0.9, 0.6], [0.8, 0.1], [0.2, 0.7]])
    evaluation = Evaluation(labels, OutputMeaning(Meaning.LABEL_PROBABILITIES, 0, label_count=2))
    for first, end in ((0, 2), (2, 3)):
        evaluation.add(end - first, [evaluation.digest(outputs[first:end], first)])
    assert evaluation.label_counts.tolist() == [[2, 1], [2, 2], [1, 1]]
    write_label_metrics(tmp_path / "e.npz", ("sun", "\ud800sea"), evaluation.label_counts)
    sun, sea = read_label_metrics(tmp_path / "e.npz").classes
    assert (sun.name, sun.examples, sun.predicted, sun.right) == ("sun", 2, 2, 1)
    assert (sun.precision, sea.recall, sea.precision) == (0.5, 1.0, 0.5)
    assert sea.name == "?sea"


@pytest.mark.parametrize(
    "changed",
    [
        {"label_right": np.zeros(3, np.int64)},
        {"label_right": np.array([-1, 0])},
        {"label_right": np.zeros(2)},
        {"label_names": np.arange(2)},
        {"label_names": np.array([[{}]])},
        {"label_examples": None},
    ],
)
def test_that_figures_of_labels_that_somebody_made_up_are_refused(
    tmp_path: Path, changed: dict[str, np.ndarray | None]
) -> None:
    whole = {name: np.zeros(2, np.int64) for name in ("label_examples", "label_predicted")}
    whole |= {"label_right": np.zeros(2, np.int64), "label_names": np.array(["a", "b"])}
    arrays = {name: each for name, each in {**whole, **changed}.items() if each is not None}
    np.savez(tmp_path / "e.npz", **arrays, allow_pickle=True)
    with pytest.raises(ValueError, match=r"label|no item|array"):
        read_label_metrics(tmp_path / "e.npz")
