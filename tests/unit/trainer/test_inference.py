"""Evaluating and predicting with real TensorFlow, held against what plain Keras finds."""

import csv
import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain import events
from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    Target,
)
from gpupanel.domain.events import decode_event
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import read_evaluated
from gpupanel.files.label_metrics_file import read_label_metrics
from gpupanel.files.score_counts_file import read_score_counts
from gpupanel.files.value_pairs_file import read_value_pairs
from gpupanel.files.worst_file import read_worst
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, read_matrix
from gpupanel.trainer.datasets.sources.digits import read_digits
from gpupanel.trainer.datasets.split import split
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun

pytestmark = pytest.mark.tensorflow
LONG = pytest.mark.long

CHILD = Path(__file__).with_name("infer_several.py")
MODELS = Path("models")
DIGITS = DigitsData(validation_fraction=0.2)
SHARES = {"one device": (64,), "uneven": (100, 37, 11)}
FURTHER_SHARES = {"3+1": (3, 1), "1+1": (1, 1)}
"""So few at once that there are hundreds of steps: for ``make test-slow``."""
QUICK = (
    *("first", "evaluate one device", "evaluate uneven", "predict one device", "predict uneven"),
    *("labels by sigmoids", "values", "predict values", "csv", "refused broken", "asked to stop"),
)
"""Of all that is evaluated and predicted; the others are for ``make test-long``."""
Add = Callable[..., object]


class Evaluated:
    """A run that the child evaluated, and what plain Keras found."""

    def __init__(self, root: Path) -> None:
        self.layout = RunLayout(root)
        self.reported: dict[str, Any] = json.loads((root / "ended.json").read_text())

    @property
    def keras(self) -> Any:
        return np.load(self.layout.root / "keras.npz")

    @property
    def predictions(self) -> Any:
        return np.load(self.layout.predictions("npz"))

    def reports_of(self, kind: type[Any]) -> list[Any]:
        lines = self.layout.events.read_text().splitlines()
        return [event for event in map(decode_event, lines) if isinstance(event, kind)]

    @property
    def evaluation(self) -> events.EvaluationDone:
        (found,) = self.reports_of(events.EvaluationDone)
        return found

    @property
    def matrix(self) -> ConfusionMatrix:
        found = read_matrix(self.layout, self.evaluation)
        assert isinstance(found, ConfusionMatrix)
        return found

    @property
    def problem(self) -> dict[str, Any]:
        (problem,) = self.reported["problems"]
        return problem

    @property
    def assumed(self) -> list[str]:
        return [event.problem.message for event in self.reports_of(events.ProblemReported)]


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> Callable[[str], Evaluated]:
    """What the tests look at, evaluated by a child for the quick ones and one for the others."""

    @cache
    def by_child(*, quick: bool) -> Callable[[str], Evaluated]:
        folder = tmp_path_factory.mktemp("inference")
        return infer(folder, make_run, add_quick if quick else add_others)

    return lambda name: by_child(quick=name in QUICK)(name)


@pytest.fixture(scope="module")
def further(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> Callable[[str], Evaluated]:
    def add_further(_: Path, add: Add) -> None:
        add_shares(add, FURTHER_SHARES)

    return infer(tmp_path_factory.mktemp("inference"), make_run, add_further)


def infer(
    folder: Path, make_run: MakeRun, add_runs: Callable[[Path, Add], None]
) -> Callable[[str], Evaluated]:
    """Runs, evaluated by one child, by name."""
    (folder / MODELS).mkdir()
    write_data(folder)
    names: list[str] = []

    def add(
        name: str,
        model: str,
        shares: Sequence[int] = (64,),
        task: str = "evaluate",
        data: DataSettings = DIGITS,
        **settings: Any,
    ) -> None:
        inference = InferenceSettings(batch_size=sum(shares), **settings)
        saved = SavedModel(path=str(folder / MODELS / f"{model}.keras"))
        profile = Profile(task=task, model=saved, data=data, inference=inference)
        layout = make_run(folder / name, profile, shares)
        if name == "asked to stop":
            (layout.requests / Request.STOP).touch()
        names.append(name)

    add("first", "softmax_activation", (20, 20, 24))  # its plan makes the logical devices
    add_runs(folder, add)
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "-1",
        "KERAS_HOME": str(folder / "keras"),
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }
    done = run_forked(
        [sys.executable, CHILD, folder / MODELS, *(folder / name for name in names)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return lambda name: Evaluated(folder / name)


def add_shares(add: Add, shares: Mapping[str, Sequence[int]]) -> None:
    for name, each in shares.items():
        add(f"evaluate {name}", "softmax_layer", each)
        add(f"predict {name}", "softmax_layer", each, "predict")


def add_quick(folder: Path, add: Add) -> None:
    add_all(folder, lambda name, *how, **settings: name in QUICK and add(name, *how, **settings))


def add_others(folder: Path, add: Add) -> None:
    add_all(folder, lambda name, *how, **settings: name in QUICK or add(name, *how, **settings))


def add_all(folder: Path, add: Add) -> None:
    add_shares(add, SHARES)
    for model in ("softmax_operation", "logits", "sigmoids", "channel", "flat_rows"):
        add(model, model)
        add(f"predict {model}", model, task="predict")
    for model in ("named_output", "listed_output"):
        add(f"predict {model}", model, task="predict")
    add_special_data(folder, add)
    for which in ("training", "validation"):
        add(f"predict {which}", "softmax_layer", task="predict", examples=which)
    add("csv", "softmax_layer", task="predict", output="csv")
    add("built by call", "built_by_call")
    for model in ("other_shape", "three_classes", "two_outputs", "broken", "one_sigmoid"):
        add(f"refused {model}", model)
    add("asked to stop", "softmax_layer", (1, 1), "predict")


def write_data(folder: Path) -> None:
    random = np.random.default_rng(0)
    x = random.random((50, 8, 8), np.float32) * 16
    two = (np.arange(50) % 2).astype(np.int64)
    np.savez(folder / "two.npz", x=x, y=two)
    np.savez(folder / "unknown.npz", x=x)
    np.savez(folder / "tagged.npz", x=x, y=random.integers(0, 2, (50, 10)))
    np.savez(folder / "few.npz", x=x[:3], y=[4, 4, 4])
    cache = folder / "keras" / "datasets"
    cache.mkdir(parents=True)
    np.savez(cache / "boston_housing.npz", x=random.random((100, 3)), y=random.random(100) * 50)
    for number in range(11):
        place = folder / "images" / ("dark" if number % 2 else "light")
        place.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 255, (4, 4), np.uint8)
        Image.fromarray(pixels).save(place / f"{number}.png")


def add_special_data(folder: Path, add: Add) -> None:
    two, unknown = NpzData(path=str(folder / "two.npz")), NpzData(path=str(folder / "unknown.npz"))
    few = NpzData(path=str(folder / "few.npz"))
    images = ImagesData(
        path=str(folder / "images"),
        image_size=(4, 4),
        color="grayscale",
        cache=DataCache.NONE,
    )
    for model in ("one_sigmoid", "one_linear"):
        add(f"two classes by {model}", model, data=two)
        add(f"predict two classes by {model}", model, task="predict", data=two)
        add(f"unknown by {model}", model, task="predict", data=unknown)
    add("unknown by softmax", "softmax_layer", task="predict", data=unknown)
    tagged = unknown.model_copy(update={"predicts": Target.LABELS})
    add("unknown by sigmoids", "sigmoids", task="predict", data=tagged)
    add("labels by sigmoids", "sigmoids", (2, 1), data=NpzData(path=str(folder / "tagged.npz")))
    add("unknown refused", "softmax_layer", task="evaluate", data=unknown)
    add("few", "softmax_layer", (40, 24), data=few)
    add("pictures", "small_pictures", (2, 1), data=images)
    files = [str(folder / "images" / name) for name in ("dark/3.png", "light/0.png")]
    some = images.with_files(files)
    add("chosen images", "small_pictures", (2, 1), "predict", some, output="csv")
    add("values", "house_price", (5, 2), data=KerasData(source="boston_housing"))
    data = KerasData(source="boston_housing")
    add("predict values of a sigmoid", "house_sigmoid", task="predict", data=data)
    add(
        "predict values",
        "house_price",
        (5, 2),
        "predict",
        KerasData(source="boston_housing"),
        output="npz",
    )


def as_keras_measures(run: Evaluated) -> None:
    loss, measure = run.keras["measured"]
    metrics = run.evaluation.metrics
    # Keras takes a softmax of what goes into several sigmoids, which is not what they give.
    if "sigmoids" not in run.layout.name:
        assert metrics.loss == pytest.approx(loss, rel=1e-5)
    found = metrics.accuracy if metrics.accuracy is not None else metrics.mean_absolute_error
    assert found == pytest.approx(measure, rel=1e-6)


@pytest.mark.parametrize("shares", SHARES)
def test_that_an_evaluation_is_that_of_plain_keras(
    evaluated: Callable[[str], Evaluated], shares: str
) -> None:
    assert_evaluated(evaluated(f"evaluate {shares}"))


@pytest.mark.slow
@pytest.mark.parametrize("shares", FURTHER_SHARES)
def test_that_few_examples_at_once_are_evaluated_and_predicted_alike(
    further: Callable[[str], Evaluated], shares: str
) -> None:
    assert_evaluated(further(f"evaluate {shares}"))
    assert_predicted(further(f"predict {shares}"))


def assert_evaluated(run: Evaluated) -> None:
    as_keras_measures(run)
    matrix = run.matrix
    confusion = np.asarray(matrix.in_full())
    labels, outputs = run.keras["labels"], run.keras["outputs"]
    expected = np.zeros((10, 10), int)
    np.add.at(expected, (labels, outputs.argmax(axis=1)), 1)
    assert confusion.tolist() == expected.tolist()
    assert run.evaluation.examples == confusion.sum() == 1797
    assert matrix.class_names == tuple("0123456789")
    assert (run.evaluation.class_count, run.evaluation.confusion) == (10, ())
    assert run.evaluation.confusion_file == "evaluation.npz"
    kept, _ = read_evaluated(run.layout.confusion)
    assert kept is not None
    assert kept.index.tolist() == list(range(1797))
    assert kept.label.tolist() == labels.tolist()
    assert kept.predicted.tolist() == outputs.argmax(axis=1).tolist()
    np.testing.assert_allclose(kept.probability, outputs.max(axis=1), rtol=1e-4)
    rows = np.arange(len(labels))
    np.testing.assert_allclose(kept.label_probability, outputs[rows, labels], atol=1e-5)
    assert run.reported == {"ended": None, "examples": 1797}
    assert not list(run.layout.root.glob("predictions*"))


def test_that_several_labels_have_figures_each(evaluated: Callable[[str], Evaluated]) -> None:
    run = evaluated("labels by sigmoids")
    has, said = run.keras["labels"] > 0.5, run.keras["outputs"] > 0.5
    assert run.evaluation.labels_file == "evaluation.npz"
    figures = read_label_metrics(run.layout.confusion).classes
    assert [each.name for each in figures] == list("0123456789")
    assert [each.examples for each in figures] == has.sum(axis=0).tolist()
    assert [each.predicted for each in figures] == said.sum(axis=0).tolist()
    assert [each.right for each in figures] == (has & said).sum(axis=0).tolist()
    assert run.evaluation.metrics.accuracy == pytest.approx((has == said).mean())
    counts = read_score_counts(run.layout.confusion)
    assert counts is not None
    assert counts.own.sum(axis=1).tolist() == has.sum(axis=0).tolist()
    assert counts.own[:, 501:].sum() <= (has & said).sum() <= counts.own[:, 500:].sum()
    worst = read_worst(run.layout.confusion)
    assert worst is not None
    right = np.where(has, run.keras["outputs"], 1.0 - run.keras["outputs"])
    losses = -np.log(np.clip(right, 1e-7, 1.0)).mean(axis=1)
    assert worst.index.tolist() == np.argsort(-losses, kind="stable").tolist()
    np.testing.assert_allclose(worst.error, np.sort(losses)[::-1], rtol=1e-4)


@pytest.mark.parametrize("shares", SHARES)
def test_that_predictions_are_those_of_plain_keras_in_order(
    evaluated: Callable[[str], Evaluated], shares: str
) -> None:
    assert_predicted(evaluated(f"predict {shares}"))


@pytest.mark.parametrize("shares", SHARES)
def test_that_thresholds_count_exactly_what_is_predicted_on_any_shares(
    evaluated: Callable[[str], Evaluated], shares: str
) -> None:
    run, predicted = (evaluated(f"{task} {shares}") for task in ("evaluate", "predict"))
    counts = read_score_counts(run.layout.confusion)
    assert counts is not None
    found = predicted.predictions
    is_own = found["label"][:, None] == np.arange(10)
    for place in range(0, 1001, 25):
        reached = found["probabilities"] >= np.float32(place / 1000)
        for each, are_in in ((counts.own, is_own), (counts.other, ~is_own)):
            assert each[:, place:].sum(axis=1).tolist() == (reached & are_in).sum(axis=0).tolist()


def assert_predicted(run: Evaluated) -> None:
    found = run.predictions
    np.testing.assert_allclose(found["probabilities"], run.keras["outputs"], atol=1e-6)
    assert found["index"].tolist() == list(range(1797))
    assert found["predicted"].tolist() == run.keras["outputs"].argmax(axis=1).tolist()
    assert found["label"].tolist() == read_digits().training.labels.tolist()
    assert found["class_names"].tolist() == list("0123456789")
    (saved,) = run.reports_of(events.PredictionsSaved)
    assert (saved.path, saved.examples) == ("predictions.npz", 1797)
    assert not list(run.layout.root.glob(".partial*"))


def test_that_progress_reaches_the_end(evaluated: Callable[[str], Evaluated]) -> None:
    reported = evaluated("predict uneven").reports_of(events.ExamplesDone)
    assert [event.examples_total for event in reported] == [1797] * len(reported)
    assert reported[-1].examples == 1797
    counts = [event.examples for event in reported]
    assert counts == sorted(counts)
    times = [event.time_s for event in reported[:-1]]
    assert all(later - earlier > 0.045 for earlier, later in itertools.pairwise(times))


@pytest.mark.parametrize(
    ("model", "assumed"),
    [
        ("softmax_operation", ""),
        ("logits", "taken as logits"),
        ("sigmoids", "scores of classes, of which the greatest wins"),
        ("channel", "shape 8x8x1"),
        ("flat_rows", "shape 64"),
    ],
)
@pytest.mark.long
def test_that_models_of_any_ending_are_understood_and_what_was_assumed_is_said(
    evaluated: Callable[[str], Evaluated], model: str, assumed: str
) -> None:
    run = evaluated(model)
    as_keras_measures(run)
    if assumed:
        assert any(assumed in message for message in run.assumed), run.assumed
    else:
        assert not run.assumed
    outputs = evaluated(f"predict {model}").keras["outputs"]
    found = evaluated(f"predict {model}").predictions
    assert found["predicted"].tolist() == outputs.argmax(axis=1).tolist()
    if model in ("softmax_operation", "sigmoids", "channel"):
        np.testing.assert_allclose(found["probabilities"], outputs, atol=1e-6)
    else:
        np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("model", ["named_output", "listed_output"])
@pytest.mark.long
def test_that_an_output_alone_may_have_a_name_or_stand_in_a_list(
    evaluated: Callable[[str], Evaluated], model: str
) -> None:
    run = evaluated(f"predict {model}")
    outputs = run.keras["outputs"]
    if model == "listed_output":
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        outputs = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run.predictions["probabilities"], outputs, atol=1e-6)


def test_that_nothing_is_assumed_where_the_model_says_it(
    evaluated: Callable[[str], Evaluated],
) -> None:
    assert evaluated("first").assumed == evaluated("evaluate uneven").assumed == []


@pytest.mark.parametrize("model", ["one_sigmoid", "one_linear"])
@pytest.mark.long
def test_that_one_output_distinguishes_two_classes(
    evaluated: Callable[[str], Evaluated], model: str
) -> None:
    run = evaluated(f"two classes by {model}")
    as_keras_measures(run)
    assert bool(run.assumed) == (model == "one_linear")
    predicted = evaluated(f"predict two classes by {model}")
    outputs = predicted.keras["outputs"][:, 0]
    second = outputs if model == "one_sigmoid" else 1.0 / (1.0 + np.exp(-outputs))
    np.testing.assert_allclose(predicted.predictions["probabilities"][:, 1], second, atol=1e-6)


@pytest.mark.long
def test_that_predicting_needs_no_labels(evaluated: Callable[[str], Evaluated]) -> None:
    softmax = evaluated("unknown by softmax").predictions
    assert "label" not in softmax
    assert softmax["class_names"].tolist() == list("0123456789")
    assert evaluated("unknown by one_sigmoid").predictions["probabilities"].shape == (50, 2)
    linear = evaluated("unknown by one_linear")
    np.testing.assert_allclose(
        linear.predictions["values"], linear.keras["outputs"][:, 0], rtol=1e-5
    )
    assert "taken as values" in linear.assumed[0]
    refused = evaluated("unknown refused").problem
    assert (refused["code"], refused["field"]) == ("data_array_missing", "data.labels")


@pytest.mark.long
def test_that_labels_without_names_are_numbered(
    evaluated: Callable[[str], Evaluated],
) -> None:
    found = evaluated("unknown by sigmoids").predictions
    assert found["probabilities"].shape == (50, 10)
    assert found["predicted"].tolist() == (found["probabilities"] > 0.5).tolist()
    assert found["class_names"].tolist() == [str(number) for number in range(10)]


@pytest.mark.long
def test_that_few_examples_of_one_class_are_evaluated_by_one_device(
    evaluated: Callable[[str], Evaluated],
) -> None:
    run = evaluated("few")
    as_keras_measures(run)
    assert run.matrix.totals[4] == 3


@pytest.mark.long
def test_that_images_are_read_as_they_are_needed(evaluated: Callable[[str], Evaluated]) -> None:
    run = evaluated("pictures")
    as_keras_measures(run)
    assert run.matrix.class_names == ("dark", "light")


@pytest.mark.long
def test_that_images_that_were_chosen_are_predicted_on_in_their_order(
    evaluated: Callable[[str], Evaluated],
) -> None:
    found = evaluated("chosen images")
    with found.layout.predictions("csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["index"] for row in rows] == ["0", "1"]
    assert "label" not in rows[0]
    first = [float(row["probability of 0"]) for row in rows]
    np.testing.assert_allclose(first, found.keras["outputs"][:, 0], atol=1e-6)
    assert first[0] != pytest.approx(first[1])


@pytest.mark.long
def test_that_the_sigmoid_of_a_model_of_values_is_a_part_of_it(
    evaluated: Callable[[str], Evaluated],
) -> None:
    run = evaluated("predict values of a sigmoid")

    values = run.predictions["values"]

    assert ((values >= 0.0) & (values <= 1.0)).all()
    np.testing.assert_allclose(values, run.keras["outputs"][:, 0], rtol=1e-5)


def test_that_values_are_measured_in_their_own_unit(evaluated: Callable[[str], Evaluated]) -> None:
    run = evaluated("values")
    as_keras_measures(run)
    assert (run.evaluation.class_count, run.evaluation.metrics.accuracy) == (0, None)
    assert run.evaluation.confusion_file == ""
    assert run.evaluation.examples == 100
    worst = read_worst(run.layout.confusion)
    assert worst is not None
    errors = np.abs(run.keras["outputs"][:, 0] - run.keras["labels"].ravel())
    np.testing.assert_allclose(worst.error, np.sort(errors)[::-1], rtol=1e-4)
    assert run.evaluation.values_file == "evaluation.npz"
    pairs = read_value_pairs(run.layout.confusion)
    np.testing.assert_array_equal(pairs.true.ravel(), np.float32(run.keras["labels"]).ravel())
    np.testing.assert_allclose(pairs.predicted, run.keras["outputs"], rtol=1e-5)
    predicted = evaluated("predict values")
    np.testing.assert_allclose(
        predicted.predictions["values"], predicted.keras["outputs"][:, 0], rtol=1e-5
    )


@pytest.mark.long
def test_that_the_examples_of_training_or_validation_are_those_of_the_split(
    evaluated: Callable[[str], Evaluated],
) -> None:
    data = read_digits()
    parts = split(data, DIGITS, Profile().training.seed)
    whole = evaluated("predict uneven").predictions
    seen = []
    for which, examples in (("training", parts.training), ("validation", parts.validation)):
        found = evaluated(f"predict {which}").predictions
        assert examples is not None
        assert found["label"].tolist() == examples.labels.tolist()
        assert (np.diff(found["index"]) > 0).all()
        np.testing.assert_allclose(
            found["probabilities"], whole["probabilities"][found["index"]], atol=1e-6
        )
        seen += found["index"].tolist()
    assert sorted(seen) == list(range(1797))


def test_that_csv_holds_the_same_as_npz(evaluated: Callable[[str], Evaluated]) -> None:
    path = evaluated("csv").layout.predictions("csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = evaluated("predict one device").predictions
    assert [int(row["index"]) for row in rows] == found["index"].tolist()
    assert [int(row["predicted"]) for row in rows] == found["predicted"].tolist()
    assert [row["predicted_name"] for row in rows] == [str(n) for n in found["predicted"]]
    assert [int(row["label"]) for row in rows] == found["label"].tolist()
    numbers = [[float(row[f"probability of {name}"]) for name in range(10)] for row in rows]
    np.testing.assert_allclose(numbers, found["probabilities"], atol=1e-6)


@pytest.mark.long
def test_that_a_model_built_by_its_first_call_takes_batches_of_any_size(
    evaluated: Callable[[str], Evaluated],
) -> None:
    as_keras_measures(evaluated("built by call"))


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        pytest.param("other_shape", "model_input_does_not_fit", "shape 9x9", marks=LONG),
        pytest.param("three_classes", "model_outputs_do_not_fit", "3 outputs", marks=LONG),
        pytest.param("one_sigmoid", "model_outputs_do_not_fit", "1 output", marks=LONG),
        pytest.param("two_outputs", "model_not_single", "2 outputs", marks=LONG),
        ("broken", "outputs_not_finite", "example 0"),
    ],
)
def test_that_a_model_that_does_not_fit_is_refused_in_a_sentence(
    evaluated: Callable[[str], Evaluated], model: str, code: str, words: str
) -> None:
    problem = evaluated(f"refused {model}").problem
    assert problem["code"] == code
    assert words in problem["message"]
    assert problem["hint"]
    assert problem["field"] == "model.path"


def test_that_a_stop_leaves_no_file_that_would_pass_for_whole(
    evaluated: Callable[[str], Evaluated],
) -> None:
    run = evaluated("asked to stop")
    assert run.reported["ended"] == "STOP"
    assert run.reports_of(events.PredictionsSaved) == []
    assert not list(run.layout.root.glob("*predictions*"))
    assert run.reports_of(events.ExamplesDone)[-1].examples < 1797
