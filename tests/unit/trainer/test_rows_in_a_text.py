"""Where the rows of a text file are: lines before the table, its first line, quotation marks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, TableData, TextData
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.trainer.datasets.tables.header_line import detected_header
from tests.unit.trainer.test_cells_as_names import by_script, noted, read


def written(folder: Path, text: str, name: str = "t.csv", encoding: str = "utf-8") -> str:
    (folder / name).write_text(text, encoding=encoding)
    return str(folder / name)


def chosen(data: DataSettings, **keys: Any) -> Any:
    return type(data).model_validate({**data.model_dump(), **keys})


def tsv(marks: tuple[int, ...], end: str = "") -> str:
    rows = [f"this is sentence {row} and it goes on\t{row % 2}" for row in range(100)]
    for row in marks:
        rows[row] = f'"Start quoted only {row}{end}\t{row % 2}'
    return "\n".join(["sentence\tlabel", *rows, ""])


@pytest.mark.parametrize(
    ("marks", "end"), [((40, 55), ""), ((40,), ""), ((3, 50, 97), "")], ids=repr
)
def test_that_quotation_marks_that_would_swallow_rows_are_letters(
    tmp_path: Path, marks: tuple[int, ...], end: str
) -> None:
    path = written(tmp_path, tsv(marks, end), "q.tsv")
    data = TextData(path=path, validation_fraction=0)
    found = read(data)
    assert len(found.training) == 100
    assert found.training.labels.tolist() == [0, 1] * 50
    script = by_script(data)
    assert len(script["x"]) == 100
    assert script["x"][marks[0]].startswith('"Start quoted')
    # Whoever knows better says so.
    if len(marks) == 2:
        assert len(read(chosen(data, quoting="double")).training) == 85


def test_that_a_mark_that_swallows_rows_far_into_a_file_is_refused_with_both_ways(
    tmp_path: Path,
) -> None:
    good = [f'"a, b {row}",{row % 2}' for row in range(80_000)]
    lines = [f"c {row},{row % 2}" for row in range(30)]
    lines[5], lines[9] = '"open,1', 'closed",0'
    path = written(tmp_path, "\n".join(["text,label", *good, *lines, *good]))
    data = TextData(path=path, validation_fraction=0)
    with pytest.raises(ProblemError) as raised:
        read(data)
    (problem,) = raised.value.problems
    assert (problem.code, problem.field) == ("table_quote_stray", "data.quoting")
    assert "row 80,006 of " in problem.message
    assert len(read(chosen(data, quoting="double")).training) == 160_000 + 30 - 4


def test_that_lines_in_a_cell_stay_there(tmp_path: Path) -> None:
    cell = '"Good, really.\n\nIt has, and I mean it, all.\nSo, yes.\nOh, well."'
    lines = [f"{cell},{row % 2}" if row % 3 else f"short,{row % 2}" for row in range(60)]
    path = written(tmp_path, "\n".join(["review,label", *lines]))
    found = read(TextData(path=path, validation_fraction=0))
    assert len(found.training) == 60


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("# made by hand\n# on a Monday\n", 2),
        ("Sales of 2024\n\n", 2),
        ("Titel;;\n", 1),
        ('He said "no\n', 1),
    ],
    ids=repr,
)
def test_that_lines_before_a_table_are_found_said_and_left_out(
    tmp_path: Path, before: str, count: int
) -> None:
    cut = ";" if ";" in before else ","
    rows = cut.join(["a", "b", "y"]), *(cut.join([str(n), f"{n}.5", "uv"[n % 2]]) for n in range(9))
    data = TableData(path=written(tmp_path, before + "\n".join(rows)), validation_fraction=0)
    found, script = read(data), by_script(data)
    assert [each.name for each in found.columns] == ["a", "b", "y"]
    assert found.training.labels.tolist() == [n % 2 for n in range(9)]
    assert script["y"].tolist() == found.training.labels.tolist()
    note = noted(found, "table_lines_skipped")
    assert before.split("\n")[0] in note.message
    fix = note.fix
    assert fix is not None
    assert fix.changes[0].value == count
    again = read(chosen(data, skip_lines=count))
    assert again.class_names == found.class_names
    assert not [each for each in again.notes if each.code == "table_lines_skipped"]


def test_that_a_first_line_that_holds_what_rows_hold_is_a_row(tmp_path: Path) -> None:
    lines = [f"film {row} was fine,{('bad', 'good')[row % 2]}" for row in range(40)]
    path = written(tmp_path, "\n".join(lines))
    data = TableData(path=path, categories=("column 1",), validation_fraction=0)
    found = read(data)
    assert len(found.training) == 40
    note = noted(found, "table_header_unsure")
    assert note.severity is Severity.WARNING
    assert len(by_script(data)["x"]) == 40
    (change,) = note.alternatives[0].changes
    assert change.path == ("data", "header")
    named = read(TableData(path=path, header=change.value, categories=("film 0 was fine",)))
    assert len(named.training) == 39


@pytest.mark.parametrize(
    ("first", "is_name"),
    [
        ("review", True),
        ("text of the review, as written", True),
        ("What did you like about our shop, all in all?", True),
        ("The soup was cold but the waiter was kind.", False),
    ],
)
def test_that_the_first_of_texts_alone_is_a_text_as_the_others_are(
    first: str, is_name: bool
) -> None:
    long = [[f"Number {n} " + "went on and on about the food " * 3] for n in range(9)]
    named, is_unsure = detected_header([first], long, str.isdecimal)
    assert (named, is_unsure) == (is_name, not is_name)
    words = [["good"], ["bad, really bad"], ["so so"]]
    assert detected_header([first], words, str.isdecimal) == (True, False)


@pytest.mark.parametrize(
    ("header", "is_sure"),
    [("town,2019,2020,kind", False), ("0,1,2,3", False), ("town,a,b,kind", True)],
)
def test_that_names_of_columns_may_be_numbers_and_that_is_said(
    tmp_path: Path, header: str, is_sure: bool
) -> None:
    lines = [f"{'vw'[n % 2]},{n}.5,{n * n},{'ab'[n % 2]}" for n in range(20)]
    data = TableData(path=written(tmp_path, "\n".join([header, *lines])), validation_fraction=0)
    found = read(data)
    assert [each.name for each in found.columns] == header.split(",")
    assert found.class_names == ("a", "b")
    assert by_script(data)["y"].tolist() == [0, 1] * 10
    assert ("table_header_unsure" in [each.code for each in found.notes]) is not is_sure


def test_that_numbers_alone_are_no_names(tmp_path: Path) -> None:
    lines = "".join(f"{n}.5,{n % 2},{n % 2}\n" for n in range(20))
    found = read(TableData(path=written(tmp_path, lines), validation_fraction=0))
    assert len(found.training) == 20
    assert not [each for each in found.notes if each.code == "table_header_unsure"]


def test_that_a_line_that_names_the_delimiter_is_none_of_the_table(tmp_path: Path) -> None:
    lines = "".join(f"{n};{n}.5;{n % 2}\n" for n in range(20))
    data = TableData(path=written(tmp_path, f"sep=;\na;b;y\n{lines}"), validation_fraction=0)
    assert [each.name for each in read(data).columns] == ["a", "b", "y"]
    assert by_script(data)["y"].tolist() == [0, 1] * 10


def test_that_a_row_may_have_a_name_that_has_none_as_r_writes_it(tmp_path: Path) -> None:
    path = written(tmp_path, '"a","y"\n' + "".join(f'"r{n}",{n},{n % 2}\n' for n in range(8)))
    data = TableData(path=path, validation_fraction=0, ignore=("column 1",))
    found = read(data)
    assert [each.name for each in found.columns] == ["column 1", "a", "y"]
    assert found.training.labels.tolist() == [0, 1] * 4
    assert by_script(data)["y"].tolist() == [0, 1] * 4


def test_that_a_delimiter_at_the_end_of_each_row_is_an_empty_column(tmp_path: Path) -> None:
    path = written(tmp_path, "a,y\n" + "".join(f"{n},{n % 2},\n" for n in range(8)))
    data = TableData(path=path, target="y", validation_fraction=0)
    found = read(data)
    rows = found.training.read(np.arange(8, dtype=np.int32))
    assert rows.ravel().tolist() == by_script(data)["x"].ravel().tolist() == [*range(8)]


def test_that_each_set_is_decoded_as_it_was_written(tmp_path: Path) -> None:
    towns = ["Köln", "Bonn", "Groß-Gerau"]
    text = "ort,y\n" + "".join(f"{towns[n % 3]},{'ab'[n % 2]}\n" for n in range(30))
    path = written(tmp_path, text, encoding="cp1252")
    data = TableData(path=path, validation_path=written(tmp_path, text, "v.csv", "utf-8-sig"))
    found, script = read(data), by_script(data)
    assert found.validation is not None
    every = np.arange(30, dtype=np.int32)
    assert np.array_equal(found.validation.read(every), found.training.read(every))
    assert np.array_equal(script["x_val"], script["x"])


@pytest.mark.parametrize(
    ("row", "width"),
    [("A{0};{0}.234,5;{0},25", 3), ("{0},5;1,25;{0},75", 3), ("A{0};1,5", 2), ("u|v,{0},{0}.5", 3)],
)
def test_that_a_mark_within_numbers_is_no_delimiter(tmp_path: Path, row: str, width: int) -> None:
    path = written(tmp_path, "".join(f"{row.format(at % 9)}\n" for at in range(40)))
    data = TableData(path=path, validation_fraction=0)
    (*_, last) = read(data).columns
    assert last.name == f"column {width}"


def test_that_a_mark_at_a_number_that_swallows_rows_is_refused_by_name(tmp_path: Path) -> None:
    rows = [f"{row}.234,5\t{row},5\tk{row % 2}" for row in range(1, 40)]
    for row in (7, 19):
        rows[row] = f'"{rows[row]}'
    path = written(tmp_path, "\n".join(["a\tb\ty", *rows, ""]), "t.tsv")
    with pytest.raises(ProblemError) as raised:
        read(TableData(path=path, validation_fraction=0))
    (problem,) = raised.value.problems
    assert (problem.code, "row 8 of" in problem.message) == ("table_quote_stray", True)


def test_that_a_mark_that_swallows_rows_of_numbers_is_refused_by_name(tmp_path: Path) -> None:
    good = [f"name {row % 3},{row % 90}.5" for row in range(150_000)]
    lines = [f"name {row % 3},{row % 90}.25" for row in range(60)]
    lines[5], lines[9] = '"name 1,7.25', 'name 2",8.25'
    path = written(tmp_path, "\n".join(["name,y", *good, *lines, ""]))
    with pytest.raises(ProblemError) as raised:
        read(TableData(path=path, validation_fraction=0))
    (problem,) = raised.value.problems
    assert problem.code == "table_quote_stray"
