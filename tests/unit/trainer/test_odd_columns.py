"""What is pointed out of the columns and the encoding of a table, with the right way on."""

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.tools.preview.preview import preview

ROWS = 40


def seen(
    path: Path, lines: Sequence[str], written_in: str = "utf-8", **chosen: object
) -> DataPreview:
    path.write_text("\n".join(lines) + "\n", written_in)
    return preview(PreviewRequest(data=TableData(path=str(path), **chosen)))


def column(cell: Callable[[int], object], head: str = "cell,size,kind") -> list[str]:
    """A table whose first column has such cells."""
    return [head, *(f"{cell(i)},{i % 7}.5,{'ab'[i % 2]}" for i in range(ROWS))]


def codes(found: DataPreview) -> list[str]:
    return [problem.code for problem in found.problems]


def first(found: DataPreview, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


@pytest.mark.parametrize(
    "cell",
    [
        lambda i: f"{['Jan', 'Feb', 'Sep'][i % 3]}-{18 + i % 5}",
        lambda i: f"{['January', 'May'][i % 2]} {2010 + i % 9}",
        lambda i: f"20{10 + i % 9}Q{i % 4 + 1}",
        lambda i: f"Q{i % 4 + 1} {2010 + i % 9}",
        lambda i: f"{i % 9}h {i % 50}m",
        lambda i: f"PT{i % 30}M",
        lambda i: f"{i % 12 + 1}:{i + 10} PM",
        lambda i: f'"Mon, {i % 28 + 1:02} Jan 2023"',
        lambda i: f"Mon Jan {i % 28 + 1:02} 10:00:00 +0000 2023",
        lambda i: f"2023年{i % 12 + 1}月{i % 28 + 1}日",
    ],
)
def test_that_times_that_become_categories_are_warned_of(
    tmp_path: Path, cell: Callable[[int], str]
) -> None:
    found = seen(tmp_path / "t.csv", column(cell))
    problem = first(found, "table_column_seems")
    assert problem.severity is Severity.WARNING
    assert 'Column "cell" looks like dates' in problem.message


def test_that_leading_zeros_are_asked_about(tmp_path: Path) -> None:
    lines = column(lambda i: f"{(i % 10) * 1037:05}")
    found = seen(tmp_path / "t.csv", lines)
    problem = first(found, "table_leading_zeros")
    assert problem.severity is Severity.WARNING
    assert problem.fix is not None
    data = TableData(path=str(tmp_path / "t.csv"))
    for fix, width in ((problem.fix, 11), (problem.alternatives[0], 2)):
        chosen = apply_fix(Profile(data=data), fix).data
        again = preview(PreviewRequest(data=chosen))
        assert "table_leading_zeros" not in codes(again)
        assert again.feature_shape == (width,)
    others = seen(tmp_path / "t.csv", column(lambda i: f"0.{i % 9}5"))
    assert "table_leading_zeros" not in codes(others)


def test_that_another_text_in_every_row_is_pointed_out(tmp_path: Path) -> None:
    found = seen(tmp_path / "t.csv", column(lambda i: hex(i * 7919)))
    problem = first(found, "table_row_numbers")
    assert '"cell" holds another text in every row' in problem.message
    assert problem.fix is not None
    repeated = seen(tmp_path / "t.csv", column(lambda i: hex(i // 2 * 7919)))
    assert "table_row_numbers" not in codes(repeated)


def test_that_a_target_whose_digits_are_lost_is_warned_of(tmp_path: Path) -> None:
    lines = ["size,who", *(f"{i % 7}.5,{900719925474099300 + i % 3}" for i in range(ROWS))]
    problem = first(seen(tmp_path / "t.csv", lines), "table_target_constant")
    assert problem.severity is Severity.WARNING
    assert problem.fix is not None
    data = TableData(path=str(tmp_path / "t.csv"))
    again = preview(PreviewRequest(data=apply_fix(Profile(data=data), problem.fix).data))
    assert again.class_counts == (
        ("900719925474099300", 14),
        ("900719925474099301", 13),
        ("900719925474099302", 13),
    )


def test_that_a_delimiter_at_the_end_of_each_line_is_no_target(tmp_path: Path) -> None:
    lines = ["size,kind", *(f"{i % 7}.5,{'ab'[i % 2]}" for i in range(ROWS))]
    found = seen(tmp_path / "t.csv", [f"{line}," for line in lines])
    assert not found.is_refused
    assert found.found["target"] == ("kind",)


def test_that_what_is_wrong_with_the_target_alone_is_said_alone(tmp_path: Path) -> None:
    lines = ["size,kind", *(f"{i % 7}.5,a" for i in range(ROWS))]
    assert codes(seen(tmp_path / "t.csv", lines)) == ["data_one_class"]


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1251", ("Москва", "Казань")),
        ("shift_jis", ("東京", "大阪")),
        ("gb18030", ("北京", "上海")),
    ],
)
def test_that_a_text_that_is_not_western_european_is_warned_of(
    tmp_path: Path, encoding: str, names: tuple[str, str]
) -> None:
    path = tmp_path / "t.csv"
    lines = ["size,kind", *(f"{i % 7}.5,{names[i % 2]}" for i in range(ROWS))]
    problem = first(seen(path, lines, encoding), "table_encoding_guessed")
    assert problem.severity is Severity.WARNING
    assert problem.fix is not None
    mended = apply_fix(Profile(data=TableData(path=str(path))), problem.fix).data
    assert isinstance(mended, TableData)
    assert mended.encoding == encoding
    again = preview(PreviewRequest(data=mended))
    assert {name for name, _ in again.class_counts} == set(names)
    assert not again.problems


@pytest.mark.parametrize("names", [("größer", "kleiner"), ("José", "Zoë"), ("12 €", "5 €")])
def test_that_a_western_european_text_is_said_to_be_read_so(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    lines = ["size,kind", *(f"{i % 7}.5,{names[i % 2]}x" for i in range(ROWS))]
    problem = first(seen(tmp_path / "t.csv", lines, "cp1252"), "table_encoding_guessed")
    assert (problem.severity, problem.fix) == (Severity.HINT, None)
    assert names[0] in problem.message or "€x" in problem.message
    assert not seen(tmp_path / "t.csv", lines).problems
    assert not seen(tmp_path / "t.csv", lines, "cp1252", encoding="cp1252").problems


def test_that_a_fix_of_a_cell_keeps_what_was_chosen_and_leaves_no_target_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    lines = ["id,size,price", *(f"{i * 7},{i}.5,{i}.25" for i in range(ROWS))]
    lines[30] = "203,<7,29.25"
    chosen = {"ignore": ("id",), "categories": ("id",)}
    problem = first(seen(path, lines, **chosen), "table_cell_misfit")
    assert problem.fix is not None
    data = TableData(path=str(path), **chosen)
    fixes = (problem.fix, *problem.alternatives)
    categories, ignored = (apply_fix(Profile(data=data), fix).data for fix in fixes)
    assert categories == data.model_copy(update={"categories": ("id", "size")})
    assert ignored == data.model_copy(update={"ignore": ("id", "size")})
    lines[30] = "203,4.5,<7"
    problem = first(seen(path, lines), "table_cell_misfit")
    assert [problem.alternatives, problem.fix and problem.fix.label] == [
        (),
        'Take "price" as a category',
    ]


def test_that_one_number_written_in_two_ways_may_be_two_versions(tmp_path: Path) -> None:
    versions = ("3.1", "3.10", "3.2", "1e3", "1000")
    lines = ["v,x,y", *(f"{versions[i % 3]},{i % 7}.5,{versions[i % 5]}" for i in range(ROWS))]
    path = tmp_path / "t.csv"
    found = seen(path, lines, predicts="classes")
    target, feature = (each for each in found.problems if each.code == "table_one_number_twice")
    assert target.message.startswith('Column "y" holds "1000" and "1e3", which are one number')
    assert target.severity is Severity.WARNING
    assert feature.message.startswith('Column "v" holds "3.1" and "3.10"')
    assert feature.severity is Severity.HINT
    for fix in filter(None, (target.fix, feature.fix)):
        (name,) = fix.changes[0].value
        again = seen(path, lines, predicts="classes", categories=[name])
        assert [each for each in again.problems if each.code == feature.code] != [target, feature]
    plain = ["v,x,y", *(f"{i % 3},{i % 7}.50,{('1', '1.0', '2')[i % 3]}" for i in range(ROWS))]
    codes = {each.code for each in seen(tmp_path / "p.csv", plain).problems}
    assert "table_one_number_twice" not in codes


def test_that_leading_zeros_that_come_late_are_asked_about(tmp_path: Path) -> None:
    many = ["code,x,y", *(f"{10000 + i % 89},{i * 7 % 13}.5,{'ab'[i % 2]}" for i in range(3000))]
    problem = first(seen(tmp_path / "t.csv", [*many, "01067,1,a"]), "table_leading_zeros")
    assert problem.fix is not None
    assert problem.fix.label == 'Take "code" as categories'


def test_that_what_pandas_calls_an_index_is_pointed_out_whatever_it_holds(tmp_path: Path) -> None:
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(ROWS)]
    others = {"size": [i * 7 % 13 for i in range(ROWS)], "kind": ["ab"[i % 2] for i in range(ROWS)]}
    index = {"__index_level_0__": ["uv"[i % 3 % 2] for i in range(ROWS)], "level_1": days}
    pyarrow.parquet.write_table(pa.table({**others, **index}), tmp_path / "t.parquet")
    found = preview(PreviewRequest(data=TableData(path=str(tmp_path / "t.parquet"))))
    assert [each.name for each in found.columns if each.use == "target"] == ["kind"]
    problem = first(found, "table_row_numbers")
    assert '"__index_level_0__", "level_1" hold the labels of the rows' in problem.message
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["__index_level_0__", "level_1"]


@pytest.mark.parametrize("name", ["id", "customer_id", "PassengerId", "user-ID", "Index"])
def test_that_an_identifier_is_pointed_out_by_its_name_and_what_it_holds(
    tmp_path: Path, name: str
) -> None:
    lines = column(lambda i: 1000 + i * 7919 % 4001, f"{name},size,kind")
    problem = first(seen(tmp_path / "t.csv", lines), "table_row_numbers")
    assert f'"{name}" holds another number in every row' in problem.message
    found = seen(tmp_path / "t.csv", lines, ignore=("kind", "size"), target=name)
    assert "table_target_row_numbers" not in codes(found)
    last = [",".join(reversed(line.split(","))) for line in lines]
    assert "table_target_row_numbers" in codes(seen(tmp_path / "l.csv", last))
    for other in ("paid", "humid", "grid", "IDs of size"):
        lines[0] = f"{other},size,kind"
        assert "table_row_numbers" not in codes(seen(tmp_path / "t.csv", lines))
    few = column(lambda i: 1000 + i % 9, f"{name},size,kind")
    assert "table_row_numbers" not in codes(seen(tmp_path / "t.csv", few))


@pytest.mark.parametrize(
    ("cell", "is_leak"),
    [
        (lambda value, i: round(value / 10), True),
        (lambda value, i: -2 * value + i % 3 / 100, True),
        (lambda value, i: value + 40 * (i % 5), False),
        (lambda value, i: value // 200, False),
    ],
)
def test_that_a_column_in_the_order_of_the_target_is_pointed_out(
    tmp_path: Path, cell: Callable[[float, int], float], is_leak: bool
) -> None:
    values = [i * 7919 % 1009 + 0.25 for i in range(2000)]
    lines = [
        "x,price,y",
        *(f"{cell(value, i)},{i % 7}.5,{value}" for i, value in enumerate(values)),
    ]
    found = seen(tmp_path / "t.csv", lines)
    assert ("table_column_is_target" in codes(found)) is is_leak
