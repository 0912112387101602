"""The worst mistakes of evaluations of several labels at once, and of values."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples, ShownRequest
from gpupanel.files.label_metrics_file import read_label_metrics, write_label_metrics
from gpupanel.files.value_pairs_file import MOST_PAIRS, read_value_pairs
from gpupanel.files.worst_file import (
    MOST_WORST,
    WorstExamples,
    most_worst,
    read_worst,
    write_worst,
)
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.meaning import OutputMeaning
from gpupanel.trainer.parts.output_meaning import Meaning
from gpupanel.trainer.tools.shown_examples import shown_examples
from tests.unit.trainer.test_image_layouts import csv_data

VALUES = OutputMeaning(Meaning.VALUES, 0)


def of_values(labels: np.ndarray, outputs: np.ndarray, size: int) -> WorstExamples:
    evaluation = Evaluation(labels, VALUES)
    for first in range(0, len(labels), size):
        part = evaluation.digest(outputs[first : first + size], first)
        evaluation.add(len(part.worst.errors) if part.worst else 0, [part])
    worst = evaluation.worst(np.arange(len(labels), dtype=np.int32) * 2)
    assert worst is not None
    return worst


@pytest.mark.parametrize("size", [1, 7, 999, 3000])
def test_that_the_values_furthest_off_come_first_however_they_were_divided(size: int) -> None:
    random = np.random.default_rng(0)
    labels = random.normal(size=3000).astype(np.float32)
    errors = np.abs(random.normal(size=3000)).astype(np.float32).round(2)
    worst = of_values(labels, (labels + errors)[:, np.newaxis], size)

    found = np.abs((labels + errors).astype(np.float64) - labels)
    order = np.argsort(-found, kind="stable")[:MOST_WORST]
    assert worst.index.tolist() == (order * 2).tolist()
    np.testing.assert_allclose(worst.error, found[order], rtol=1e-6)
    np.testing.assert_array_equal(worst.label[:, 0], labels[order])
    assert worst.predicted.shape == (MOST_WORST, 1)


@pytest.mark.parametrize("size", [1_000, 7_777, 30_000])
def test_that_the_same_sample_of_values_is_kept_however_they_were_divided(
    tmp_path: Path, size: int
) -> None:
    labels = np.arange(30_000, dtype=np.float32)
    outputs = labels[:, np.newaxis] + 0.5
    evaluation = Evaluation(labels, VALUES)
    for first in range(0, len(labels), size):
        part = outputs[first : first + size]
        evaluation.add(len(part), [evaluation.digest(part, first)])
    pairs, worst = evaluation.value_pairs(), evaluation.worst(np.arange(30_000, dtype=np.int32))
    assert pairs is not None
    assert worst is not None
    write_worst(tmp_path / "e.npz", worst, pairs)
    found = read_value_pairs(tmp_path / "e.npz")
    drawn = np.random.default_rng(0).choice(30_000, MOST_PAIRS, replace=False, shuffle=False)
    assert found.true[:, 0].tolist() == sorted(drawn.tolist())
    np.testing.assert_array_equal(found.predicted, found.true + 0.5)
    assert read_worst(tmp_path / "e.npz") is not None


def test_that_all_of_few_values_are_kept_and_none_of_classes() -> None:
    evaluation = Evaluation(np.float32([1, 2]), VALUES)
    evaluation.add(2, [evaluation.digest(np.float32([[3], [4]]), 0)])
    pairs = evaluation.value_pairs()
    assert pairs is not None
    assert (pairs.true.tolist(), pairs.predicted.tolist()) == ([[1], [2]], [[3], [4]])
    classes = Evaluation(np.int32([0]), OutputMeaning(Meaning.LOGITS, 2))
    classes.add(1, [classes.digest(np.float32([[1.0, 2.0]]), 0)])
    assert classes.value_pairs() is None


def test_that_the_examples_of_the_largest_loss_come_first_of_several_labels() -> None:
    labels = np.float32([[1, 0], [0, 0], [1, 1]])
    logits = np.float32([[9.0, -9.0], [5.0, -3.0], [-40.0, 200.0]])
    evaluation = Evaluation(labels, OutputMeaning(Meaning.LABEL_LOGITS, 0, label_count=2))
    evaluation.add(3, [evaluation.digest(logits, 0)])
    worst = evaluation.worst(np.arange(3, dtype=np.int32), ("sun", "sea"))
    assert worst is not None
    assert worst.index.tolist() == [2, 1, 0]
    assert worst.error[0] == pytest.approx(20.0, rel=1e-3)
    assert worst.predicted[1].tolist() == pytest.approx([0.9933, 0.0474], abs=1e-3)
    assert worst.label[0].tolist() == [1.0, 1.0]


def test_that_classes_have_none_and_many_outputs_keep_fewer() -> None:
    evaluation = Evaluation(np.int32([0]), OutputMeaning(Meaning.LOGITS, 2))
    evaluation.add(1, [evaluation.digest(np.float32([[1.0, 2.0]]), 0)])
    assert evaluation.worst(np.int32([0])) is None
    assert (most_worst(1), most_worst(100_000), most_worst(10**9)) == (MOST_WORST, 40, 1)


def worst_of(labels: object, predicted: object, names: tuple[str, ...] = ()) -> WorstExamples:
    return WorstExamples(
        np.int32([2, 0]),
        np.float32([4.5, 0.5]),
        np.float32(labels),
        np.float32(predicted),
        names,
    )


def shown(file: Path, data: ImagesData, first: int = 0) -> ShownExamples:
    profile = Profile(task="evaluate", data=data, model=SavedModel(path="/nowhere.keras"))
    choice = ExampleChoice(which="mistakes", first=first)
    return shown_examples(ShownRequest(profile=profile, file=str(file), choice=choice))


def test_that_values_are_shown_with_image_both_values_and_error(tmp_path: Path) -> None:
    data = csv_data(tmp_path / "in", "f,g\na.png,1.5\nb.png,2\ndeep/c.png,-3.25\n")
    write_worst(tmp_path / "e.npz", worst_of([[-3.25], [1.5]], [[1.25], [2.0]]))
    found = shown(tmp_path / "e.npz", data)
    assert found.problems == ()
    assert found.total == 2
    one = found.examples[0]
    assert (one.name, one.label, one.predicted[0].name, one.error) == (
        "deep/c.png",
        "-3.25",
        "1.25",
        4.5,
    )
    assert one.image is not None
    assert one.is_right is None
    assert [each.index for each in shown(tmp_path / "e.npz", data, first=1).examples] == [0]


def test_that_labels_are_shown_by_their_names_beside_the_figures(tmp_path: Path) -> None:
    data = csv_data(tmp_path / "in", "f,sun,sea\na.png,1,1\nb.png,0,1\ndeep/c.png,0,0\n")
    names = ("sun", "sea")
    worst = worst_of([[0, 0], [1, 1]], [[0.75, 0.25], [0.5, 1.0]], names)
    write_label_metrics(tmp_path / "e.npz", names, np.zeros((3, 2), np.int64), worst)
    assert [each.name for each in read_label_metrics(tmp_path / "e.npz").classes] == list(names)
    found = shown(tmp_path / "e.npz", data.model_copy(update={"predicts": Target.LABELS}))
    first, second = found.examples
    assert (first.label, second.label) == ("", "sun, sea")
    assert [(each.name, each.probability) for each in first.predicted] == [
        ("sun", 0.75),
        ("sea", 0.25),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"worst_index": np.array([[0]])},
        {"worst_index": np.array([-1, 0])},
        {"worst_index": np.array([2**40, 0])},
        {"worst_index": np.array([0.0, 1.0])},
        {"worst_error": np.array([np.nan, 1.0])},
        {"worst_error": np.array([1e300, 1.0])},
        {"worst_error": np.array([1.0])},
        {"worst_index": np.array([-1, 0], np.int32)},
        {"worst_label": np.zeros((2, 3))},
        {"worst_label": np.array([{}, {}])},
        {"worst_predicted": np.zeros((3, 1))},
        {"label_names": np.array(["a", "b"])},
        {"label_names": np.array([1])},
        {"worst_error": None},
    ],
)
def test_that_worst_examples_that_somebody_made_up_are_refused(
    tmp_path: Path, changed: dict[str, np.ndarray | None]
) -> None:
    whole = worst_of([[0], [1]], [[1], [0]]).arrays()
    arrays = {name: each for name, each in {**whole, **changed}.items() if each is not None}
    np.savez(tmp_path / "e.npz", **arrays, allow_pickle=True)
    with pytest.raises(ValueError, match=r"worst|label|there is|index|array"):
        read_worst(tmp_path / "e.npz")
