"""Cells that are not what their column holds, and targets that words or numbers hide."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.preview import preview

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
        ([head, units, *rows], "the line may be a second one of names, or one of units"),
        ([head, *rows, total], "it is the last row, which may hold totals or a note"),
        ([head, *rows, total, ",,,"], "it is the last row, which may hold totals or a note"),
    ):
        problem = the(seen(written(tmp_path / "t.csv", lines)), "table_cell_misfit")
        assert said in problem.message
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
