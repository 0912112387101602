"""Numbers that are none: for missing values, days without marks, and digits that are not kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.script.data_section import data_section
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables.odd_numbers import OddNumbers
from gpupanel.trainer.tools.preview.preview import preview

ROWS = 40
DAYS = [f"2023{1 + i % 12:02}{1 + i % 28:02}" for i in range(ROWS)]
CLASSES = ["ab"[i * i % 3 % 2] for i in range(ROWS)]


def csv(path: Path, cell: Callable[[int], object], **chosen: Any) -> TableData:
    rows = [f"{cell(i)},{i * 7 % 13}.5,{CLASSES[i]}" for i in range(ROWS)]
    path.write_text("\n".join(["f,x,y", *rows]) + "\n")
    return TableData(path=str(path), **{"target": "y", "validation_fraction": 0, **chosen})


def parquet(path: Path, cells: Any, **chosen: Any) -> TableData:
    others = {"x": [i * 7 % 13 / 2 for i in range(ROWS)], "y": CLASSES}
    pyarrow.parquet.write_table(pa.table({"f": cells, **others}), path)
    return TableData(path=str(path), **{"target": "y", "validation_fraction": 0, **chosen})


def seen(data: TableData) -> DataPreview:
    return preview(PreviewRequest(data=data))


def codes(found: DataPreview) -> set[str]:
    return {problem.code for problem in found.problems}


def the(found: DataPreview, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


def fixed(data: TableData, problem: Problem, place: int = 0) -> TableData:
    fix = (problem.fix, *problem.alternatives)[place]
    assert fix is not None
    changed = apply_fix(Profile(data=data), fix).data
    assert isinstance(changed, TableData)
    return changed


def first_column(data: TableData) -> np.ndarray:
    found = source_of(data).read(data, Reading(lambda *_: None))
    rows = found.training.read(np.arange(len(found.training), dtype=np.int32))
    return np.asarray(rows)[:, 0]


def of_script(data: TableData) -> np.ndarray:
    kinds = {"numbers": [], "dates": [], "categories": ["y"], "predicts": "classes"}
    kinds["dates" if "f" in (data.dates or ()) else "numbers"] += ["f"]
    kinds["numbers"] += ["x"]
    names: dict[str, Any] = {"np": np, "SEED": 1}
    exec(data_section(data.model_copy(update=kinds)), names)
    return np.asarray(names["x"])[:, 0]


@pytest.mark.parametrize("number", ["-999", "-9999.0", "9999", "99.9", "1e20", "-32768"])
def test_that_a_number_for_missing_values_is_pointed_out_and_can_be_empty(
    tmp_path: Path, number: str
) -> None:
    cells = [number if i % 10 == 4 else f"{i % 9}.5" for i in range(ROWS)]
    data = csv(tmp_path / "t.csv", cells.__getitem__)
    problem = the(seen(data), "table_number_for_missing")
    assert "in 4 rows, far from all its other numbers" in problem.message
    assert problem.severity is Severity.WARNING
    mended = fixed(data, problem)
    again = seen(mended)
    assert "table_number_for_missing" not in codes(again)
    assert again.columns[0].missing == 4
    others = [float(cell) for cell in cells if cell != number]
    expected = np.float32([np.mean(others) if cell == number else float(cell) for cell in cells])
    np.testing.assert_allclose(first_column(mended), expected, rtol=1e-6)
    np.testing.assert_array_equal(of_script(mended), first_column(mended))
    kept = fixed(data, problem, 1)
    assert "table_number_for_missing" not in codes(seen(kept))


def test_that_a_number_for_missing_values_is_empty_however_it_is_written(tmp_path: Path) -> None:
    numbers = [-999.0 if i % 10 == 4 else i % 9 / 2 for i in range(ROWS)]
    empty = {"empty_words": ["-999"]}
    of_csv = csv(tmp_path / "t.csv", lambda i: f"{numbers[i]:.2f}", **empty)
    of_parquet = parquet(tmp_path / "t.parquet", pa.array(numbers), **empty)
    for data in (of_csv, of_parquet):
        assert seen(data).columns[0].missing == 4
        np.testing.assert_array_equal(of_script(data), first_column(data))
    classes = {"target": "f", "predicts": "classes", "empty_words": ["-999"]}
    for cells in (pa.array([-999, 1, 2, 3] * 10), pa.array([-999.0, 1, 2, 3] * 10)):
        data = parquet(tmp_path / "c.parquet", cells, **classes)
        assert seen(data).class_counts == (("1", 10), ("2", 10), ("3", 10))


@pytest.mark.parametrize(
    "numbers",
    [
        [-1, *range(20), -1],
        [0, 2020, 2021, 2022, 0] * 5,
        [*range(90), 99, 99],
        [-999, *range(20)],
        [-999, -950, *range(-900, 0, 20), -999],
        [9999, *range(0, 9000, 100), 9999],
        [999, *[5] * 30, 999],
    ],
)
def test_that_numbers_that_may_be_numbers_are_left_alone(numbers: list[float]) -> None:
    odd = OddNumbers()
    for part in np.array_split(np.asarray(numbers, np.float64), 3):
        odd.take(part)
    assert odd.far() is None


def test_that_ends_of_columns_are_found_over_all_parts() -> None:
    for numbers in ([*range(30), 9999, 9999], [9999, *range(30), 9999], [9999, 9999, *range(30)]):
        odd = OddNumbers()
        for each in numbers:
            odd.take(np.array([each, np.nan], np.float64))
        assert odd.far() == (9999.0, 2)


def test_that_infinite_numbers_are_said_to_be_empty(tmp_path: Path) -> None:
    found = seen(csv(tmp_path / "t.csv", lambda i: "inf" if i % 10 == 4 else i % 9))
    problem = the(found, "table_infinite")
    assert "in 4 rows: it is taken as an empty cell" in problem.message


def test_that_days_without_marks_are_pointed_out_and_read_as_dates(tmp_path: Path) -> None:
    of_csv = csv(tmp_path / "t.csv", DAYS.__getitem__)
    whole = parquet(tmp_path / "w.parquet", pa.array(list(map(int, DAYS))))
    floats = parquet(
        tmp_path / "f.parquet", pa.array([None if i == 3 else float(DAYS[i]) for i in range(ROWS)])
    )
    dates = np.array([f"{day[:4]}-{day[4:6]}-{day[6:]}" for day in DAYS], "datetime64[D]")
    expected = np.float32((dates - dates[0]).astype(int))
    for data in (of_csv, whole, floats):
        problem = the(seen(data), "table_days_as_numbers")
        mended = fixed(data, problem)
        assert seen(mended).columns[0].holds == "date"
        found = np.delete(first_column(mended), 3)
        np.testing.assert_array_equal(found, np.delete(expected, 3))
        np.testing.assert_array_equal(of_script(mended), first_column(mended))
        assert "table_days_as_numbers" not in codes(seen(fixed(data, problem, 1)))
    with_time = csv(tmp_path / "c.csv", lambda i: f"{DAYS[i]}120000", dates=["f"])
    np.testing.assert_array_equal(first_column(with_time), expected + 0.5)


@pytest.mark.parametrize("number", [20231301, 20230100, 12345678, 18991231])
def test_that_numbers_that_are_no_days_are_left_alone(tmp_path: Path, number: int) -> None:
    cells = [*map(int, DAYS[:-1]), number]
    assert "table_days_as_numbers" not in codes(seen(csv(tmp_path / "t.csv", cells.__getitem__)))
    found = seen(parquet(tmp_path / "t.parquet", pa.array([1.5] * ROWS), dates=["f"]))
    assert codes(found) == {"table_cell_misfit"}


def test_that_digits_that_are_not_kept_are_pointed_out(tmp_path: Path) -> None:
    milliseconds = csv(tmp_path / "ms.csv", lambda i: 1_600_000_000_000 + i * i % 37 * 1000)
    problem = the(seen(milliseconds), "table_digits_lost")
    assert fixed(milliseconds, problem).ignore == ("f",)
    target = milliseconds.model_copy(update={"target": "f"})
    assert the(seen(target), "table_digits_lost").field == "data.target"
    for cell in (lambda i: i / 3, lambda i: 1_600_000_000 + i * 10**6):
        assert "table_digits_lost" not in codes(seen(csv(tmp_path / "t.csv", cell)))


def test_that_a_column_with_a_point_in_its_name_is_read(tmp_path: Path) -> None:
    columns = {
        "Sepal": [{"Length": 1.0}] * ROWS,
        "Sepal.Length": [i % 9 / 2 for i in range(ROWS)],
        "Sepal.Width": [i % 7 / 2 for i in range(ROWS)],
        "y": CLASSES,
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    data = TableData(path=str(tmp_path / "t.parquet"), validation_fraction=0)
    found = seen(data)
    uses = {each.name: each.use for each in found.columns}
    assert uses == {
        "Sepal.Length": "feature",
        "Sepal.Width": "feature",
        "y": "target",
        "Sepal": "left_out",
    }
    assert '"Sepal" cannot be learned from' in the(found, "table_columns_not_read").message
    np.testing.assert_array_equal(first_column(data), np.float32(columns["Sepal.Length"]))


def test_that_a_day_for_missing_values_is_pointed_out(tmp_path: Path) -> None:
    days = ["9999-12-31" if i % 10 == 0 else f"2026-01-{i % 28 + 1:02}" for i in range(ROWS)]
    problem = the(seen(csv(tmp_path / "t.csv", days.__getitem__)), "table_number_for_missing")
    assert "holds 9999-12-31 in 4 rows, far from all its other days" in problem.message
    assert problem.fix is None
    empty = csv(tmp_path / "t.csv", days.__getitem__, empty_words=["9999-12-31"])
    found = seen(empty)
    assert "table_number_for_missing" not in codes(found)
    assert (found.columns[0].holds, found.columns[0].missing) == ("date", 4)
    for first in ("1970-01-01", "2025-12-31"):
        days = [first if i % 10 == 0 else f"{1975 + i}-05-01" for i in range(ROWS)]
        found = seen(csv(tmp_path / "o.csv", days.__getitem__))
        assert "table_number_for_missing" not in codes(found)


def test_that_numbers_for_missing_values_of_other_tables_are_hinted_at(tmp_path: Path) -> None:
    data = csv(tmp_path / "t.csv", lambda i: i % 9 * 1.5)
    other = csv(tmp_path / "o.csv", lambda i: "-999" if i % 10 == 4 else i % 9 * 1.5)
    with_test = data.model_copy(update={"test_path": other.path})
    assert the(seen(with_test), "table_number_for_missing").severity is Severity.HINT
    recipe = source_of(data).read(data, Reading(lambda *_: None)).recipe
    reading = Reading(lambda *_: None, recipe=recipe)
    (note,) = source_of(other).read_all(other, reading, needs_labels=False).notes
    assert (note.code, note.severity, note.fix) == ("table_number_for_missing", Severity.HINT, None)
