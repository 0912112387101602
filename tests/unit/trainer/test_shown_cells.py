"""Examples that are rows are shown with the cells that stand in the file."""

import csv
import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, KerasData, TableData
from gpupanel.domain.model import MlpModel, SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.shown_examples import (
    LONGEST_CELL,
    MOST_CELLS,
    ExampleChoice,
    ShownExample,
    ShownExamples,
    ShownRequest,
)
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.task import Task
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.worst_file import WorstExamples, write_worst
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.trainer.datasets.example_columns import ExampleColumn
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.shown_cells import cell_text, shown_cells
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.tools.shown_examples import shown_examples
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_classes_of_the_model import model_of
from tests.unit.trainer.test_image_layouts import csv_data
from tests.unit.trainer.trained_runs import train_all

TOWNS = ("Bern", "Genf", "Zug")
SHOWN = ("id", "area", "town", "built")
HEAD = (*SHOWN, "price")


def rows_of(count: int, first: int = 0) -> list[tuple[str, ...]]:
    """The cells of each row; some are empty, and one town is never of a row that has a date."""
    return [
        (
            str(number),
            "" if number % 7 == 3 else f"{30 + number * 0.25:g}",
            TOWNS[number % 3],
            "" if number % 5 == 4 else f"19{50 + number % 50}-03-01",
            str(1000 * number + 1),
        )
        for number in range(first, first + count)
    ]


def written(path: Path, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])
    return path


def cells(example: ShownExample) -> tuple[str, ...]:
    assert tuple(each.column for each in example.cells) == SHOWN
    return tuple(each.text for each in example.cells)


def by_label(example: ShownExample, rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The row of the file that has that price."""
    price = example.label.replace(",", "")
    (row,) = [row for row in rows if row[-1] == price]
    return row[:-1]


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (0.1, ExampleColumn("a"), "0.1"),
        (-2.0, ExampleColumn("a"), "-2"),
        (0.0, ExampleColumn("a"), "0"),
        (1984.0, ExampleColumn("a"), "1984"),
        (1.5e-7, ExampleColumn("a"), "1.5e-07"),
        (3e12, ExampleColumn("a"), "\N{ALMOST EQUAL TO} 3e+12"),
        (20_240_101.0, ExampleColumn("a"), "\N{ALMOST EQUAL TO} 20240100"),
        (1.0, ExampleColumn("a", ("x", "y")), "y"),
        (2.0, ExampleColumn("a", first_day=365.0), "1971-01-03"),
        (math.nan, ExampleColumn("a", ("x", "y")), ""),
    ],
)
def test_that_a_cell_is_written_as_in_the_file_or_marked_where_it_is_not_exact(
    value: float, column: ExampleColumn, text: str
) -> None:
    assert cell_text(float(np.float32(value)), column) == text


def read(data: DataSettings) -> DataSet:
    return read_data(data, Reading(no_download))


@pytest.mark.parametrize("how", ["fraction", "validation", "test"])
def test_that_validation_examples_have_the_cells_of_their_own_rows(
    tmp_path: Path, how: str
) -> None:
    rows, others = rows_of(60), rows_of(12, 100)
    data = TableData(path=str(written(tmp_path / "a.csv", rows)), target="price", missing="drop")
    other = str(written(tmp_path / "b.csv", others))
    if how == "fraction":
        data = data.model_copy(update={"validation_fraction": 0.25})
    else:
        data = data.model_copy(update={"validation_path": other})
    found = read(data)
    if how == "test":
        found = replace(found, validation=None, test=found.validation)
    # Data whose own test set validates.
    divided = split(found, KerasData(source="mnist") if how == "test" else data, 7)
    assert divided.validation is not None
    places = np.arange(len(divided.validation), dtype=np.int32)
    assert found.cells is not None
    shown = shown_cells(found.cells, divided.places_of(places))
    prices = [f"{price:.0f}" for price in divided.validation.labels.ravel().tolist()]
    assert len(shown) > 5
    for price, of_row in zip(prices, shown, strict=True):
        example = ShownExample(index=0, label=price, cells=of_row)
        assert cells(example) == by_label(example, rows if how == "fraction" else others)


def shown(
    tmp_path: Path, data: DataSettings, model: Path, task: Task, indices: list[int]
) -> ShownExamples:
    count = len(indices)
    ones = np.ones((count, 1), np.float32)
    worst = WorstExamples(np.int32(indices), np.ones(count, np.float32), ones, ones, ())
    write_worst(tmp_path / "e.npz", worst)
    profile = Profile(task=task, data=data, model=SavedModel(path=str(model)))
    choice = ExampleChoice(which="mistakes")
    request = ShownRequest(profile=profile, file=str(tmp_path / "e.npz"), choice=choice)
    return shown_examples(request)


@pytest.mark.parametrize("task", ["evaluate", "predict"])
def test_that_examples_of_an_evaluation_have_the_cells_of_the_file(
    tmp_path: Path, task: Task
) -> None:
    rows = rows_of(60)
    data = TableData(path=str(written(tmp_path / "a.csv", rows)), target="price")
    model = model_of(tmp_path, (), outputs=1)
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr(RECIPE_MEMBER, read(data).recipe)
    found = shown(tmp_path, data, model, task, [42, 3, 17])
    assert found.problems == ()
    assert [cells(each) for each in found.examples] == [rows[at][:-1] for at in (42, 3, 17)]


def test_that_images_have_what_a_csv_says_of_them_beside_their_labels(tmp_path: Path) -> None:
    lines = "f,g,age\na.png,1.5,7\nb.png,2,\ndeep/c.png,-3.25,9\n"
    data = csv_data(tmp_path / "in", lines).model_copy(update={"label_columns": "g"})
    model = model_of(tmp_path, (), outputs=1)
    found = shown(tmp_path, data, model, "evaluate", [2, 1])
    told = [[(cell.column, cell.text) for cell in each.cells] for each in found.examples]
    assert told == [[("age", "9")], [("age", "")]]


class Wide:
    """More columns than are shown, with long names."""

    columns = tuple(ExampleColumn("x" * 200, ("y" * 200,)) for _ in range(MOST_CELLS + 5))

    def read(self, indices: np.ndarray) -> np.ndarray:
        return np.zeros((len(indices), len(self.columns)), np.float32)


def test_that_no_more_is_shown_than_a_line_of_a_file_may_hold() -> None:
    (found,) = shown_cells(Wide(), np.int32([0]))
    assert len(found) == MOST_CELLS
    assert {len(each.column) for each in found} == {len(each.text) for each in found}
    assert len(found[0].text) == LONGEST_CELL


@pytest.mark.tensorflow
def test_that_a_training_shows_validation_examples_with_their_cells(
    tmp_path: Path, make_run: MakeRun
) -> None:
    rows = rows_of(60)
    path = written(tmp_path / "a.csv", rows)
    data = TableData(path=str(path), target="price", validation_fraction=0.25)
    training = TrainingSettings(epochs=1, tensorboard=False)
    profile = Profile(data=data, model=MlpModel(hidden=(4,)), training=training)
    layout = train_all(tmp_path / "runs", make_run, {"rows": (profile, (32,))})["rows"]
    examples = read_validation_history(layout).examples
    assert len(examples) == 15
    for each in examples:
        assert cells(each) == by_label(each, rows)
    assert json.loads(layout.validation_examples.read_text().splitlines()[0])["examples"]
