"""Columns and tables that are read otherwise than they look are pointed out, or refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.script.data_section import data_section
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables.loose_cells import look_of
from gpupanel.trainer.tools.preview.preview import preview

ROWS = 60


def seen(path: Path, lines: list[str], **chosen: Any) -> DataPreview:
    path.write_text("\n".join(lines) + "\n")
    return preview(PreviewRequest(data=TableData(path=str(path), **chosen)))


def table(cell: Callable[[int], object], head: str = "cell;size;kind") -> list[str]:
    return [head, *(f"{cell(i)};{i * 7 % 13}.5;{'ab'[i % 2]}" for i in range(ROWS))]


def codes(found: DataPreview) -> set[str]:
    return {problem.code for problem in found.problems}


def the(found: DataPreview, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


@pytest.mark.parametrize(
    ("cell", "look"),
    [
        ("10 kg", "measure"),
        ("25\u00b0C", "measure"),
        ("< 16 GB", "measure"),
        ("5 m", "measure"),
        ("'5'", "measure"),
        ('="12.5"', "measure"),
        ("~5.1", "number"),
        ("4.1 \u00b1 0.1", "number"),
        ("5\u00d710^3", "number"),
        ("120/80", "number"),
        ("7k", "number"),
        ("1 de enero de 2023", "date"),
        ("01/2010", "date"),
        ("2010/01", "date"),
        ("2023-01-01 10:00 CET", "date"),
        ("03.04.2023 um 10", "date"),
        ("3G4", ""),
        ("5m\u00b2 and more", ""),
        ("4WD", "number"),
        ("ab", ""),
        ("'90s", "number"),
        ("x" * 100, ""),
    ],
)
def test_that_a_cell_looks_like_what_it_may_mean(cell: str, look: str) -> None:
    assert look_of(cell) == look


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        (lambda i: f"{i % 5 * 10} kg", "numbers"),
        (lambda i: f"~{i}.5", "numbers"),
        (lambda i: f"1{i:02}/80", "numbers"),
        (lambda i: f"{i % 12 + 1:02}/20{i % 9 + 10}", "dates"),
        (lambda i: "unknown" if i % 3 == 0 else i, "numbers"),
    ],
)
def test_that_what_would_become_categories_is_pointed_out(
    tmp_path: Path, cell: Callable[[int], object], what: str
) -> None:
    found = seen(tmp_path / "t.csv", table(cell))
    assert f'Column "cell" looks like {what}' in the(found, "table_column_seems").message


@pytest.mark.parametrize(
    "cell",
    [
        lambda i: ("3G", "4G", "5G")[i % 3],
        lambda i: ("1/5", "3/5", "5/5")[i % 3],
        lambda i: ("<18", "18-30", "31-50", "51+")[i % 4],
        lambda i: "none" if i % 3 else i % 4,
        lambda i: ("one", "two")[i % 2] if i % 3 == 0 else i,
    ],
)
def test_that_names_with_digits_are_left_alone(
    tmp_path: Path, cell: Callable[[int], object]
) -> None:
    assert "table_column_seems" not in codes(seen(tmp_path / "t.csv", table(cell)))


@pytest.mark.parametrize(
    "lines",
    [
        ["h w y", *(f"{i},5 {i * 2},7 {'ab'[i % 2]}" for i in range(ROWS))],
        ["h   w   y", *(f"{i}.5   {i:<4} {'ab'[i % 2]}" for i in range(ROWS))],
        [f"  {i},5 {i * 2},7 {'ab'[i % 2]}" for i in range(ROWS)],
    ],
)
def test_that_cells_between_spaces_are_refused_by_that_name(
    tmp_path: Path, lines: list[str]
) -> None:
    found = seen(tmp_path / "t.csv", lines)
    assert found.is_refused
    assert codes(found) == {"table_spaces"}
    chosen = seen(tmp_path / "t.csv", lines, delimiter=",", predicts="classes")
    assert "table_spaces" not in codes(chosen)


@pytest.mark.parametrize(
    "lines",
    [
        [f"{i}, {i * 3 % 7}, {'ab'[i % 2]}" for i in range(ROWS)],
        ["x, y, kind", *(f"{i}, {i * 3 % 7}, {'ab'[i % 2]}" for i in range(ROWS))],
        ["a b\tc d", *(f"{i} {i}\t{'ab'[i % 2]} c" for i in range(ROWS))],
        ["day,kind", *(f"2026-01-{i % 28 + 1:02} 10:00,{'ab'[i % 2]}" for i in range(ROWS))],
        ["town,kind", *(f"New York {i % 9},{'ab'[i % 2]}" for i in range(ROWS))],
    ],
)
def test_that_spaces_in_and_beside_cells_are_no_delimiters(
    tmp_path: Path, lines: list[str]
) -> None:
    assert not seen(tmp_path / "t.csv", lines).is_refused


def test_that_a_table_of_one_column_says_what_divides_cells(tmp_path: Path) -> None:
    lines = ["a:b:kind", *(f"{i}:{i * 3 % 7}:{'ab'[i % 2]}" for i in range(ROWS))]
    problem = the(seen(tmp_path / "t.csv", lines), "table_no_features")
    assert "one column alone: no comma, semicolon, tab or vertical bar" in problem.message
    assert problem.field == "data.delimiter"
    chosen = the(seen(tmp_path / "t.csv", lines, delimiter=";"), "table_no_features")
    assert "the delimiter that was chosen does not divide its lines" in chosen.message


def test_that_names_of_columns_in_another_encoding_are_refused(tmp_path: Path) -> None:
    text = "gr\u00f6\u00dfe,y\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(ROWS))
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    data = TableData(path=str(tmp_path / "t.csv"))
    found = preview(PreviewRequest(data=data.model_copy(update={"encoding": "utf-8"})))
    assert (found.is_refused, codes(found)) == (True, {"table_encoding"})
    assert preview(PreviewRequest(data=data)).columns[0].name == "gr\u00f6\u00dfe"
    (tmp_path / "t.csv").write_text(text.replace("\u00f6", "\ufffd"), encoding="utf-8")
    assert not preview(PreviewRequest(data=data)).is_refused


@pytest.mark.parametrize("numbers", [(2, 3, 4), (-1, 0, 1), (0, 1, 3), (3, 4, 5, 6, 7, 8)])
def test_that_few_whole_numbers_may_be_classes(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    lines = ["x,y", *(f"{i % 7}.5,{numbers[i % len(numbers)]}" for i in range(ROWS))]
    found = seen(tmp_path / "t.csv", lines)
    assert found.target is Target.VALUES
    problem = the(found, "data_values_seem_classes")
    assert (problem.severity, len(problem.alternatives)) == (Severity.HINT, 1)
    for predicts in ("values", "classes"):
        chosen = seen(tmp_path / "t.csv", lines, predicts=predicts)
        assert "data_values_seem_classes" not in codes(chosen)


def test_that_one_cell_that_makes_values_of_classes_is_pointed_out(tmp_path: Path) -> None:
    lines = ["x,y", *(f"{i % 7}.5,{i % 2}" for i in range(300))]
    assert "table_target_values" not in codes(seen(tmp_path / "t.csv", lines))
    problem = the(seen(tmp_path / "o.csv", [*lines, "1,2.5"]), "table_target_values")
    assert problem.severity is Severity.WARNING
    assert problem.message.startswith("All but 1 of the 301 rows hold a whole number from 0 to 1")
    for values in ([i / 4 for i in range(300)], [i % 40 for i in range(300)]):
        lines = ["x,y", *(f"{i % 7}.5,{value}" for i, value in enumerate(values))]
        assert "table_target_values" not in codes(seen(tmp_path / "v.csv", lines))


def test_that_true_and_false_of_parquet_are_called_as_in_a_text_file(tmp_path: Path) -> None:
    flags = [i % 3 == 0 for i in range(ROWS)]
    kinds = ["ab"[i % 2] for i in range(ROWS)]
    lines = ["flag,x,kind", *(f"{flags[i]},{i % 7}.5,{kinds[i]}" for i in range(ROWS))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    columns = {"flag": flags, "x": [i % 7 + 0.5 for i in range(ROWS)], "kind": kinds}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    of_text = TableData(path=str(tmp_path / "t.csv"))
    recipe = source_of(of_text).read(of_text, Reading(lambda *_: None)).recipe
    other = TableData(path=str(tmp_path / "t.parquet"))
    reading = Reading(lambda *_: None, recipe=recipe)
    found = source_of(other).read_all(other, reading, needs_labels=True)
    assert not found.notes
    chosen = {"categories": ["flag", "kind"], "numbers": ["x"], "predicts": "classes"}
    chosen |= {"target": "kind", "validation_fraction": 0}
    data = TableData.model_validate({**other.model_dump(), **chosen})
    names: dict[str, Any] = {"np": np, "SEED": 1}
    exec(data_section(data), names)
    expected = np.asarray(found.features)
    np.testing.assert_array_equal(names["x"], expected)
    np.testing.assert_array_equal(names["x"][:, 1], np.float32(flags))
