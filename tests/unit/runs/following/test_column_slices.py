"""How good a model is for each value of a column, as it is read."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import ConfusionCells, write_confusion
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.slices_file import ExampleSlices, read_slices_file
from gpupanel.runs.following.column_slices import ColumnSlices, Slice, read_slices

FOUND = EvaluationDone(
    time_s=0.0,
    examples=7,
    metrics=Metrics(loss=1.0, accuracy=0.5),
    class_count=2,
    confusion_file="evaluation.npz",
)
CELLS = ConfusionCells(np.array([0]), np.array([0]), np.array([7]), ("cat", "dog"))
SLICES = ExampleSlices(
    ("town", "age"),
    np.array([0, 0, 1, 1]),
    ("Oslo", "empty", "below 30", "30 and more"),
    np.array([3, 4, 5, 2]),
    np.array([1.0, 0.25, 0.6, 0.5]),
    9,
)


def test_that_slices_are_read_as_they_were_written(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    write_confusion(layout.confusion, CELLS)
    assert read_slices(layout, FOUND) is None
    write_confusion(layout.confusion, CELLS, None, SLICES)
    found = read_slices(layout, FOUND)
    assert isinstance(found, ColumnSlices)
    town, age = found.columns
    assert (town.name, town.slices) == ("town", (Slice("Oslo", 3, 1.0), Slice("empty", 4, 0.25)))
    assert [each.value for each in age.slices] == ["below 30", "30 and more"]
    assert (found.whole, found.is_accuracy, found.column_count) == (0.5, True, 9)
    assert read_slices(layout, FOUND.model_copy(update={"confusion_file": ""})) is None


def test_that_of_values_they_are_errors(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    write_confusion(layout.confusion, CELLS, None, SLICES)
    metrics = Metrics(loss=4.0, mean_absolute_error=1.5)
    found = read_slices(layout, FOUND.model_copy(update={"metrics": metrics}))
    assert isinstance(found, ColumnSlices)
    assert (found.whole, found.is_accuracy) == (1.5, False)


@pytest.mark.parametrize(
    "found",
    [
        FOUND.model_copy(update={"examples": 8}),
        FOUND.model_copy(update={"metrics": Metrics(loss=1.0)}),
    ],
)
def test_that_slices_of_another_evaluation_are_a_problem(
    tmp_path: Path, found: EvaluationDone
) -> None:
    layout = RunLayout(tmp_path)
    write_confusion(layout.confusion, CELLS, None, SLICES)
    problem = read_slices(layout, found)
    assert isinstance(problem, Problem)
    assert problem.code == "confusion_unread"


@pytest.mark.parametrize(
    "damage",
    [
        {"slice_columns": np.array(["town"])},
        {"slice_columns": np.array([""] * 200)},
        {"slice_column": np.array([0, 1, 0, 1])},
        {"slice_column": np.array([0.0, 0.0, 1.0, 1.0])},
        {"slice_column": np.array([0, 0, 1, 2])},
        {"slice_value": np.array(["Oslo"])},
        {"slice_examples": np.array([3, 4, 5, 0])},
        {"slice_measure": np.array([1.0, np.nan, 0.5, 0.5])},
        {"slice_measure": np.array([1, 0, 1, 1])},
        {"slice_column_count": np.array([1])},
        {"slice_column_count": np.array([9, 9])},
    ],
)
def test_that_anything_else_is_refused(tmp_path: Path, damage: dict[str, np.ndarray]) -> None:
    path = tmp_path / "evaluation.npz"
    with path.open("wb") as file:
        write_npz(file, {**SLICES.arrays(), **damage}, compressed=True)
    with pytest.raises(ValueError, match=r"slice|column"):
        read_slices_file(path)
