"""True and predicted values of an evaluation: which are kept, how they are read and summed up."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.value_pairs_file import MOST_PAIRS, ValuePairs, most_pairs, read_value_pairs
from gpupanel.runs.following.value_pairs import BINS, ValueFigures, read_values

FOUND = EvaluationDone(
    time_s=0.0,
    examples=3,
    metrics=Metrics(loss=1.0, mean_absolute_error=1.0),
    values_file="evaluation.npz",
)


def write(path: Path, true: object, predicted: object) -> None:
    with path.open("wb") as file:
        arrays = {"pair_true": np.asarray(true), "pair_predicted": np.asarray(predicted)}
        write_npz(file, arrays, compressed=True)


def figures(true: object, predicted: object, examples: int | None = None) -> ValueFigures:
    pairs = ValuePairs(np.float32(true), np.float32(predicted))
    return ValueFigures(pairs, len(pairs.true) if examples is None else examples)


def test_that_values_are_read_as_they_were_written(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    write(layout.confusion, np.float32([[1], [2], [4]]), np.float32([[1.5], [2], [3]]))
    found = read_values(layout, FOUND)
    assert isinstance(found, ValueFigures)
    assert found.true.tolist() == [1.0, 2.0, 4.0]
    assert found.predicted.tolist() == [1.5, 2.0, 3.0]
    assert found.words == "All 3 examples."


def test_that_a_run_that_names_no_values_has_none_whatever_its_folder_holds(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    write(layout.confusion, np.float32([[1]]), np.float32([[1]]))
    assert read_values(layout, FOUND.model_copy(update={"values_file": ""})) is None


@pytest.mark.parametrize(
    ("true", "predicted"),
    [
        (np.float32([[1]]), np.float32([[np.nan]])),
        (np.float32([[1]]), np.float32([[np.inf]])),
        (np.float64([[1e300]]), np.float32([[1]])),
        (np.float32([[1]]), np.float32([[1], [2]])),
        (np.float32([1]), np.float32([1])),
        (np.float32([[]]), np.float32([[]])),
        (np.int32([[1]]), np.float32([[1]])),
        (np.zeros((MOST_PAIRS + 1, 1), np.float32), np.zeros((MOST_PAIRS + 1, 1), np.float32)),
    ],
)
def test_that_a_file_with_anything_else_is_a_problem(
    tmp_path: Path, true: object, predicted: object
) -> None:
    layout = RunLayout(tmp_path)
    write(layout.confusion, true, predicted)
    found = read_values(layout, FOUND)
    assert isinstance(found, Problem)
    assert found.code == "confusion_unread"
    assert "predicted values" in found.message


def test_that_no_link_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "other.npz", np.float32([[1]]), np.float32([[1]]))
    (tmp_path / "evaluation.npz").symlink_to(tmp_path / "other.npz")
    with pytest.raises(OSError, match="symbolic link"):
        read_value_pairs(tmp_path / "evaluation.npz")


def test_that_fewer_examples_of_many_values_are_kept() -> None:
    assert (most_pairs(1), most_pairs(1_000), most_pairs(10**9)) == (MOST_PAIRS, 50, 1)


def test_that_errors_are_counted_around_none_and_far_ones_at_the_ends() -> None:
    true = np.zeros((1000, 1))
    predicted = np.linspace(-1.0, 1.0, 1000)[:, np.newaxis]
    predicted[-1] = 1e6
    counts, end = figures(true, predicted).errors
    assert (len(counts), sum(counts)) == (BINS, 1000)
    assert end == pytest.approx(1.0, abs=0.02)
    assert max(counts) < 40


@pytest.mark.parametrize("value", [0.0, 5.0, -1e6])
def test_that_one_value_rightly_predicted_has_a_picture_too(value: float) -> None:
    found = figures([[value]], [[value]])
    low, high = found.bounds
    assert low < value < high
    counts, end = found.errors
    assert counts[BINS // 2] == 1
    assert end > 0.0


def test_that_a_sample_and_several_values_are_said() -> None:
    pairs = [[1.0, 2.0]] * 4
    assert figures(pairs, pairs, 4_000).words == (
        "4 of 4,000 examples, chosen at random; 2 values each."
    )
