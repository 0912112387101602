"""How good a model is for each value of a column: exact counts, whatever is divided how."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.table_data import MissingValues, TableData
from gpupanel.files.slices_file import MOST_COLUMNS, ExampleSlices
from gpupanel.trainer.datasets.example_columns import ExampleColumn, ExampleColumns
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.meaning import OutputMeaning
from gpupanel.trainer.inference.sampled_rows import sampled_rows
from gpupanel.trainer.inference.slices import example_slices
from gpupanel.trainer.parts.output_meaning import Meaning


class Columns(ExampleColumns):
    """Cells that are in memory."""

    def __init__(self, *columns: tuple[ExampleColumn, list[float] | np.ndarray]) -> None:
        self._columns = tuple(column for column, _ in columns)
        self._cells = np.stack([np.float32(cells) for _, cells in columns], axis=1)
        self.largest = 0

    @property
    def columns(self) -> tuple[ExampleColumn, ...]:
        return self._columns

    def read(self, indices: np.ndarray) -> np.ndarray:
        self.largest = max(self.largest, len(indices) * len(self._columns))
        return self._cells[indices]


def everything(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def counted(column: ExampleColumn, cells: Any, measures: Any = 1.0) -> list[tuple[str, int, float]]:
    """The slices of one column."""
    weights = np.broadcast_to(np.float32(measures), len(cells))
    slices = example_slices(Columns((column, cells)), everything(len(cells)), weights)
    return found_in(slices, column.name)


def found_in(slices: ExampleSlices | None, name: str) -> list[tuple[str, int, float]]:
    assert slices is not None
    at = slices.column == slices.names.index(name)
    values = [value for value, is_in in zip(slices.values, at, strict=True) if is_in]
    return list(
        zip(values, slices.examples[at].tolist(), slices.measures[at].tolist(), strict=True)
    )


NAN = float("nan")


def test_that_categories_are_counted_with_the_most_frequent_first_and_empty_cells_last() -> None:
    towns = ExampleColumn("town", ("Oslo", "Rome", "Bonn"))
    columns = Columns((towns, [1, 1, 0, NAN, 1, 0]))
    slices = example_slices(columns, everything(6), np.float32([1, 0, 1, 1, 1, 0]))
    assert found_in(slices, "town") == [
        ("Rome", 3, pytest.approx(2 / 3)),
        ("Oslo", 2, 0.5),
        ("empty", 1, 1.0),
    ]


def test_that_rare_categories_are_counted_together() -> None:
    names = tuple(f"n{number}" for number in range(50))
    cells = np.concatenate([np.repeat(np.arange(20), 10), np.arange(20, 50)])
    right = np.float32(cells % 2)
    found = counted(ExampleColumn("c", names), cells, right)
    assert len(found) == 21
    assert found[-1] == ("other values", 30, 0.5)
    assert found[:2] == [("n0", 10, 0.0), ("n1", 10, 1.0)]


def test_that_few_numbers_are_values_and_many_are_ranges() -> None:
    random = np.random.default_rng(1)
    rooms, price = random.integers(1, 6, 4_000), random.lognormal(10, 1, 4_000).astype(np.float32)
    errors = random.random(4_000).astype(np.float32)
    columns = Columns((ExampleColumn("rooms"), rooms), (ExampleColumn("price"), price))
    slices = example_slices(columns, everything(4_000), errors)
    for value, examples, measure in found_in(slices, "rooms"):
        of = errors[rooms == int(value)]
        assert (examples, measure) == (len(of), pytest.approx(of.mean(dtype=float)))
    ranges = found_in(slices, "price")
    assert len(ranges) == 8
    assert all(450 < examples < 550 for _, examples, _ in ranges)
    assert ranges[0][0].startswith("below ")
    assert " to below " in ranges[1][0]
    assert ranges[-1][0].endswith(" and more")
    total = sum(examples * measure for _, examples, measure in ranges)
    assert total == pytest.approx(errors.sum(dtype=float))


def test_that_each_range_holds_the_numbers_that_it_says() -> None:
    numbers = np.repeat(np.arange(100), 10)
    for words, examples, _ in counted(ExampleColumn("age"), numbers):
        parts = [int(each) for each in words.split() if each.isdigit()]
        low = 0 if words.startswith("below") else parts[0]
        high = 100 if words.endswith("more") else parts[-1]
        assert examples == 10 * (high - low), words


def test_that_numbers_that_are_mostly_alike_have_a_range_of_the_others() -> None:
    cells = np.concatenate([np.zeros(980), np.arange(1, 21)])
    found = counted(ExampleColumn("gain"), cells)
    assert found == [("below 1", 980, 1.0), ("1 and more", 20, 1.0)]


def test_that_dates_are_said_as_dates() -> None:
    days = np.arange(200, dtype=np.float32)
    first, second, *_ = counted(ExampleColumn("sold", first_day=18_262.0), days)
    assert first[0] == "below 2020-01-26"
    assert second[0] == "2020-01-26 to below 2020-02-20"


def test_that_columns_that_divide_nothing_are_left_out() -> None:
    names = tuple(map(str, range(1_000)))
    columns = Columns(
        (ExampleColumn("constant"), np.ones(1_000)),
        (ExampleColumn("empty"), np.full(1_000, NAN)),
        (ExampleColumn("name", names), np.arange(1_000)),
    )
    assert example_slices(columns, everything(1_000), np.ones(1_000, np.float32)) is None
    assert example_slices(columns, everything(0), np.ones(0, np.float32)) is None


def test_that_an_empty_column_beside_cells_that_are_not_is_counted() -> None:
    cells = np.full(10, NAN)
    cells[3] = 7
    found = counted(ExampleColumn("seldom"), cells)
    assert found == [("7", 1, 1.0), ("empty", 9, 1.0)]


def test_that_many_columns_are_read_in_bounded_parts_and_the_first_counted() -> None:
    count, wide = 6_000, 1_000
    cells = np.arange(count) % 2
    columns = Columns(*((ExampleColumn(f"c{number}"), cells) for number in range(wide)))
    slices = example_slices(columns, everything(count), np.float32(cells))
    assert slices is not None
    assert (len(slices.names), slices.column_count) == (MOST_COLUMNS, wide)
    assert columns.largest <= 4_000_000
    assert found_in(slices, "c99") == [("0", 3_000, 0.0), ("1", 3_000, 1.0)]


def test_that_a_number_that_the_sample_lacks_is_another_value() -> None:
    count = 300_000
    cells = np.zeros(count)
    cells[::2] = 1
    seen = sampled_rows(count, 100_000)
    (unseen, *_) = np.setdiff1d(np.arange(1, count, 2), seen)
    cells[unseen] = 5
    found = counted(ExampleColumn("c"), cells)
    assert found == [("0", 149_999, 1.0), ("1", 150_000, 1.0), ("other values", 1, 1.0)]


@pytest.mark.parametrize("cuts", [(), (1, 40, 41), tuple(range(1, 90))])
def test_that_measures_are_those_of_each_example_however_they_are_divided(cuts: tuple) -> None:
    random = np.random.default_rng(2)
    logits = random.normal(size=(90, 3)).astype(np.float32)
    labels = random.integers(0, 3, 90).astype(np.int32)
    evaluation = Evaluation(labels, OutputMeaning(Meaning.LOGITS, 3), keeps_measures=True)
    values = Evaluation(np.float32(labels), OutputMeaning(Meaning.VALUES, 0), keeps_measures=True)
    for first, end in zip((0, *cuts), (*cuts, 90), strict=True):
        evaluation.add(end - first, [evaluation.digest(logits[first:end], first)])
        values.add(end - first, [values.digest(logits[first:end, :1], first)])
    assert evaluation.measures.tolist() == (logits.argmax(axis=1) == labels).tolist()
    np.testing.assert_allclose(values.measures, abs(logits[:, 0] - labels), rtol=1e-6)
    assert Evaluation(labels, OutputMeaning(Meaning.LOGITS, 3)).measures is None


def write(path: Path, rows: list[tuple]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("town", "age", "sold", "note", "kind"), *rows])


def rows_of(seed: int, count: int, towns: tuple[str, ...]) -> list[tuple]:
    random = np.random.default_rng(seed)
    return [
        (
            towns[random.integers(len(towns))],
            "" if number % 7 == 3 else int(random.integers(18, 90)),
            f"2021-{1 + number % 12:02}-15" if seed else f"2020-{1 + number % 12:02}-15",
            "seen" if number % 2 else "new",
            ("yes", "no")[number % 2],
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("missing", [MissingValues.MEAN, MissingValues.DROP])
def test_that_the_cells_of_a_table_are_those_of_its_file_in_all_sets(
    tmp_path: Path, missing: MissingValues
) -> None:
    rows, more = rows_of(0, 80, ("Oslo", "Rome")), rows_of(5, 40, ("Bonn", "Rome"))
    write(tmp_path / "t.csv", rows)
    write(tmp_path / "v.csv", more)
    data = TableData(
        path=str(tmp_path / "t.csv"),
        validation_path=str(tmp_path / "v.csv"),
        target="kind",
        ignore=("town", "note", "sold"),
        missing=missing,
    )
    recipe = source_of(data).read(data, Reading(print)).recipe
    found = source_of(data).read_all(data, Reading(print, recipe=recipe), needs_labels=True)
    columns = found.columns
    assert columns is not None
    assert [each.name for each in columns.columns] == ["town", "age", "sold", "note", "kind"]
    kept = [row for row in (*rows, *more) if missing is MissingValues.MEAN or row[1] != ""]
    assert len(found) == len(kept)
    places = np.random.default_rng(3).permutation(len(kept)).astype(np.int32)
    cells = columns.read(places)
    town, age, sold, note, kind = columns.columns
    assert age.categories is None
    assert sold.first_day is not None
    for place, (its_town, its_age, day, its_note, its_kind) in zip(places, cells, strict=True):
        row = kept[place]
        assert town.categories is not None
        assert note.categories is not None
        assert kind.categories is not None
        assert town.categories[int(its_town)] == row[0]
        assert its_age == row[1] if row[1] != "" else np.isnan(its_age)
        assert str(np.datetime64(int(day + sold.first_day), "D")) == row[2]
        assert (note.categories[int(its_note)], kind.categories[int(its_kind)]) == row[3:]


def test_that_a_column_that_another_table_lacks_or_has_otherwise_is_left_out(
    tmp_path: Path,
) -> None:
    write(tmp_path / "t.csv", rows_of(0, 60, ("Oslo", "Rome")))
    (tmp_path / "v.csv").write_text("age,note,kind\n" + "30,5,yes\n40,6,no\n" * 20)
    data = TableData(
        path=str(tmp_path / "t.csv"),
        validation_path=str(tmp_path / "v.csv"),
        target="kind",
        ignore=("town", "note", "sold"),
    )
    recipe = source_of(data).read(data, Reading(print)).recipe
    found = source_of(data).read_all(data, Reading(print, recipe=recipe), needs_labels=True)
    assert found.columns is not None
    assert [each.name for each in found.columns.columns] == ["age", "kind"]
