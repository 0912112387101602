"""Cells that are not what their column holds, and targets that words or numbers hide."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview

ROWS = 40


def written(path: Path, lines: Sequence[str], **chosen: Any) -> TableData:
    path.write_text("\n".join(lines) + "\n")
    return TableData(path=str(path), **chosen)


def seen(data: TableData) -> DataPreview:
    return preview(PreviewRequest(data=data))


def the(found: DataPreview, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


def fixed(data: TableData, problem: Problem, place: int = 0) -> TableData:
    """The data as a fix of a problem leaves it."""
    fix = (problem.fix, *problem.alternatives)[place]
    assert fix is not None
    changed = apply_fix(Profile(data=data), fix).data
    assert isinstance(changed, TableData)
    return changed


def with_word(word: str, different: int = 30) -> list[str]:
    cells = [word if i % 20 == 7 else str(i % different + 0.5) for i in range(ROWS)]
    rows = (f"{i},{cell},{i % 3},{'ab'[i % 2]}" for i, cell in enumerate(cells))
    return ["id,size,x,kind", *rows]


def missing_sizes(found: DataPreview) -> tuple[str, int]:
    return next((each.holds, each.missing) for each in found.columns if each.name == "size")


@pytest.mark.parametrize("word", [".", "--", "missing", "k.A."])
@pytest.mark.parametrize(
    ("different", "code"), [(30, "table_cell_misfit"), (9, "table_column_seems")]
)
def test_that_a_word_among_numbers_can_be_taken_as_empty(
    tmp_path: Path, word: str, different: int, code: str
) -> None:
    data = written(tmp_path / "t.csv", with_word(word, different), ignore=["id"])
    problem = the(seen(data), code)
    assert problem.fix is not None
    assert problem.fix.label == f'Take "{word}" as empty'
    again = seen(fixed(data, problem))
    assert not again.is_refused
    assert missing_sizes(again) == ("number", 2)


@pytest.mark.parametrize("word", ["#DIV/0!", "#REF!", "\\N"])
def test_that_what_spreadsheets_and_databases_write_for_nothing_is_empty(
    tmp_path: Path, word: str
) -> None:
    found = seen(written(tmp_path / "t.csv", with_word(word)))
    assert not found.is_refused
    assert missing_sizes(found) == ("number", 2)


def test_that_a_line_of_units_or_totals_is_named_and_not_taken_as_empty(tmp_path: Path) -> None:
    head, *rows = with_word("7.5")
    units, total = "-,[cm],-,-", "Summe,1234.5,40,"
    for lines, said in (
        ([head, units, *rows], "The line may be a second one of names, or one of units"),
        ([head, *rows, total], "It is the last row, which may hold totals or a note"),
        ([head, *rows, total, ",,,"], "It is the last row, which may hold totals or a note"),
        ([head, *rows, head, *rows], "It is the name of the column, as where files were joined"),
    ):
        problem = the(seen(written(tmp_path / "t.csv", lines)), "table_cell_misfit")
        assert said in problem.hint
        assert problem.fix is None
    few = [head, *(f"{i % 9},{i}.5,{i % 3},{'ab'[i % 2]}" for i in range(ROWS)), total]
    problem = the(seen(data := written(tmp_path / "few.csv", few)), "table_column_seems")
    assert '("Summe" can not)' in problem.message
    assert the(seen(fixed(data, problem)), "table_cell_misfit").fix is None


@pytest.mark.parametrize("word", ["Total", "Gesamtsumme:", "合計", "Total 2023"])
def test_that_a_last_row_of_totals_among_names_is_pointed_out(tmp_path: Path, word: str) -> None:
    rows = [f"{('north', 'south')[i % 2]},{i}.5,{i * 3 % 7}.25" for i in range(ROWS)]
    lines = ["region,size,price", *rows]
    total = f"{word},820,130.5"
    problem = the(seen(written(tmp_path / "t.csv", [*lines, total, ",,"])), "table_total_line")
    assert problem.message.startswith(
        f'Row 41, the last one, seems to hold totals of the others: "{word}"'
    )
    for others in (lines, [*lines, total, *rows], [*lines, total, total]):
        found = seen(written(tmp_path / "o.csv", others)).problems
        assert "table_total_line" not in {each.code for each in found}


def test_that_taking_a_word_as_empty_keeps_what_was_chosen_before(tmp_path: Path) -> None:
    data = written(tmp_path / "w.csv", with_word("."), ignore=["id"], empty_words=["?"])
    assert fixed(data, the(seen(data), "table_cell_misfit")).empty_words == ("?", ".")


@pytest.mark.parametrize("word", ["null", "nan"])
def test_that_one_class_only_says_which_word_was_taken_as_empty(tmp_path: Path, word: str) -> None:
    lines = ["size,kind", *(f"{i % 7}.5,{('x', word)[i % 2]}" for i in range(ROWS))]
    data = written(tmp_path / "t.csv", lines)
    problem = the(seen(data), "data_one_class")
    assert f'"{word}" was taken to mean that a cell is empty' in problem.message
    assert seen(fixed(data, problem)).class_counts == tuple(sorted(((word, 20), ("x", 20))))
    one = the(seen(written(tmp_path / "o.csv", ["size,kind", "1,x", "2,x"])), "data_one_class")
    assert one.fix is None


@pytest.mark.parametrize("pair", [("-1", "1"), ("2.0", "4.0")])
def test_that_two_whole_numbers_are_two_classes(tmp_path: Path, pair: tuple[str, str]) -> None:
    lines = ["size,y", *(f"{i % 7}.5,{pair[i % 2]}" for i in range(ROWS))]
    found = seen(written(tmp_path / "t.csv", lines))
    low, high = (each.removesuffix(".0") for each in pair)
    assert found.class_counts == ((low, 20), (high, 20))
    for cells in ((0.5, 1.5), (2, 4, 7), ("10%", "20%"), ("$5", "$10"), (2**24 + 2, 2**25)):
        lines = ["size,y", *(f"{i % 7}.5,{cells[i % len(cells)]}" for i in range(ROWS))]
        assert seen(written(tmp_path / "v.csv", lines)).target is Target.VALUES


def test_that_lines_of_names_among_rows_of_names_are_pointed_out(tmp_path: Path) -> None:
    rows = [f"{'uv'[i % 2]},{'stt'[i % 3]},{'ab'[i % 2]}" for i in range(ROWS)]
    head = "kind,form,y"
    found = seen(written(tmp_path / "t.csv", [head, *rows, head, *rows, head, *rows]))
    assert [each.name for each in found.columns] == ["kind", "form", "y"]
    problem = the(found, "table_names_again")
    assert problem.message.startswith("2 rows seem to be the line of names again")
    for lines in (rows, [rows[0], *rows]):
        alone = {each.code for each in seen(written(tmp_path / "o.csv", lines)).problems}
        assert "table_header_unsure" in alone
        assert "table_names_again" not in alone


def test_that_names_that_differ_in_case_or_spaces_alone_are_pointed_out(tmp_path: Path) -> None:
    names = ("a", "a ", "A", "b\u200b", "b")
    lines = ["x,y", *(f"{names[i % 5]},{names[i % 5]}" for i in range(ROWS))]
    target, feature = (
        each
        for each in seen(written(tmp_path / "t.csv", lines)).problems
        if each.code == "table_names_alike"
    )
    assert (target.severity, feature.severity) == (Severity.WARNING, Severity.HINT)
    assert '"A" and "a" and "a "' in target.message
    spaced = ["x, y", *(f"{i % 7}, {'ab'[i % 2]}" for i in range(ROWS))]
    assert not seen(written(tmp_path / "o.csv", spaced)).problems


@pytest.mark.parametrize("cell", ["'{}'", "'{}", '="{}"', "\u2019{}\u2019", "`{}"])
def test_that_numbers_in_quotation_marks_are_pointed_out(tmp_path: Path, cell: str) -> None:
    lines = ["size,x,y", *(f"{cell.format(i % 7)},{i}.5,{'ab'[i % 2]}" for i in range(ROWS))]
    problem = the(seen(written(tmp_path / "t.csv", lines)), "table_column_seems")
    assert cell.format(0) in problem.message


def test_that_texts_of_parquet_are_not_said_to_be_unreadable(tmp_path: Path) -> None:
    columns = {"size": [f"{i}.5" for i in range(ROWS)], "y": ["ab"[i % 2] for i in range(ROWS)]}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    problem = the(seen(TableData(path=str(tmp_path / "t.parquet"))), "table_column_seems")
    assert "holds numbers that were saved as texts: its cells are" in problem.message


def test_that_a_cell_that_is_not_as_in_training_has_no_fix_that_training_would_need(
    tmp_path: Path,
) -> None:
    rows = [f"{i % 7}.5,{'ab'[i % 2]}" for i in range(ROWS)]
    data = written(tmp_path / "t.csv", ["size,y", *rows])
    recipe = source_of(data).read(data, Reading(lambda *_: None)).recipe
    for cell, label in (
        ("much", 'Take "much" as empty'),
        ("1,5 m", None),
        (".", 'Take "." as empty'),
    ):
        other = written(tmp_path / "o.csv", ["size,y", *rows[:5], f'"{cell}",a', *rows])
        with pytest.raises(ProblemError) as raised:
            source_of(other).read_all(
                other, Reading(lambda *_: None, recipe=recipe), needs_labels=False
            )
        (problem,) = raised.value.problems
        assert problem.hint.startswith("Training read that column so")
        assert (problem.fix and problem.fix.label, problem.alternatives) == (label, ())


def test_that_a_first_row_of_other_names_is_pointed_out(tmp_path: Path) -> None:
    rows = [f"{'uv'[i % 2]},{'stt'[i % 3]},{'abb'[i % 3]}" for i in range(ROWS)]
    for first in ("kind,form,y", "-,[type],-"):
        found = seen(written(tmp_path / "t.csv", ["A,B,C", first, *rows]))
        problem = the(found, "table_second_names")
        assert problem.message.startswith(f'The first row ("{first.split(",")[0]}", ')
    for lines in (["A,B,C", *rows], ["A,B,C", "u,form,y", *rows], ["A,B,C", "x,y,", *rows]):
        found = seen(written(tmp_path / "o.csv", lines))
        assert "table_second_names" not in {each.code for each in found.problems}


def test_that_a_word_among_numbers_that_are_predicted_may_be_a_class(tmp_path: Path) -> None:
    lines = ["x,y", *(f"{i % 7}.5,{'unknown' if i % 20 == 7 else i % 9}" for i in range(ROWS))]
    data = written(tmp_path / "t.csv", lines)
    problem = the(seen(data), "table_column_seems")
    labels = [fix and fix.label for fix in (problem.fix, *problem.alternatives)]
    assert labels == ['Take "y" as categories', 'Take "unknown" as empty', 'Take "y" as numbers']
    found = seen(fixed(data, problem, 1))
    assert "unknown" not in dict(found.class_counts)
