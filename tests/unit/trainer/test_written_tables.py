"""Tables whose numbers and dates people wrote: what is read, asked and warned of, by all alike."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain.data import TableData, Target, TextData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.exports.description import script_text
from gpupanel.trainer.tools.preview.preview import preview

Cells = list[list[str]]


def write(path: Path, cells: Cells, delimiter: str = ",", encoding: str = "utf-8") -> str:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter).writerows(cells)
    return str(path)


def read(path: str, **chosen: object) -> DataSet:
    data = TableData(path=path, **chosen)
    return source_of(data).read(data, Reading(lambda *_: None))


def features(found: DataSet) -> np.ndarray:
    return found.training.read(np.arange(len(found.training), dtype=np.int32))


def refused(path: str, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    return problem


def codes(found: DataSet) -> list[str]:
    return [each.code for each in found.notes]


def changed(problem: Problem) -> list[dict[str, Any]]:
    """What the fixes of a problem choose."""
    fixes = [problem.fix, *problem.alternatives]
    return [
        {change.path[1]: change.value for change in fix.changes} for fix in fixes if fix is not None
    ]


def english(number: float) -> str:
    return f"{number:,.2f}"


def german(number: float) -> str:
    return english(number).translate(str.maketrans(",.", ".,"))


def french(number: float) -> str:
    return english(number).replace(",", "\u202f").replace(".", ",") + "\u00a0\u20ac"


def swiss(number: float) -> str:
    return "CHF " + english(number).replace(",", "'")


def bookkeeping(number: float) -> str:
    return f"({english(-number)})" if number < 0 else english(number)


def trailing(number: float) -> str:
    return f"{german(-number)}-" if number < 0 else german(number)


@pytest.mark.parametrize("written", [english, german, french, swiss, bookkeeping, trailing])
def test_that_numbers_of_every_locale_are_read_and_said(
    tmp_path: Path, written: Callable[[float], str]
) -> None:
    numbers = np.random.default_rng(0).normal(0, 20_000, 60).round(2)
    cells = [["c", "y"], *(["ab"[at % 2], written(each)] for at, each in enumerate(numbers))]
    found = read(write(tmp_path / "t.csv", cells, ";"), target="y")
    assert found.target is Target.VALUES
    assert found.training.labels.tolist() == numbers.astype(np.float32).tolist()
    (said,) = [each for each in found.notes if each.code == "table_cells_read"]
    assert f'"{visible(written(numbers[0]))}" is read as {numbers[0]}' in said.message
    assert f"is read as {numbers[0]}" in found.columns[1].detail


def visible(cell: str) -> str:
    from gpupanel.domain.visible_text import visible_line

    return visible_line(cell)


def test_that_a_number_that_may_be_two_is_asked_with_a_fix_for_each(tmp_path: Path) -> None:
    cells = [["c", "y"], *(["ab"[at % 2], f"{at + 1},500"] for at in range(60))]
    path = write(tmp_path / "t.csv", cells)
    problem = refused(path)
    assert (problem.code, problem.field) == ("table_numbers_unclear", "data.decimal")
    assert '"1,500", which may be 1500 or 1.500' in problem.message
    assert changed(problem) == [{"decimal": "."}, {"decimal": ","}, {"ignore": ["y"]}]
    assert read(path, decimal=".").training.labels[:2].tolist() == [1500, 2500]
    assert read(path, decimal=",").training.labels[:2].tolist() == [1.5, 2.5]
    # Another column of the table shows it, or the column is not used.
    other = write(tmp_path / "o.csv", [["a", *cells[0]], *(["0.5", *row] for row in cells[1:])])
    assert read(other).training.labels[0] == 1500
    assert read(other, target="c", ignore=["y"]).target is Target.CLASSES


def test_that_a_value_of_texts_that_may_be_two_is_asked(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv", [["text", "y"], *([f"word {at}", f"{at + 1},500"] for at in range(60))]
    )
    data = TextData(path=path, text="text", target="y")
    with pytest.raises(ProblemError) as raised:
        source_of(data).read(data, Reading(lambda *_: None))
    (problem,) = raised.value.problems
    assert problem.code == "table_numbers_unclear"
    assert changed(problem) == [{"decimal": "."}, {"decimal": ","}]
    said = data.model_copy(update={"decimal": "."})
    found = source_of(said).read(said, Reading(lambda *_: None))
    assert found.training.labels[:2].tolist() == [1500, 2500]


def test_that_the_one_cell_that_shows_it_may_come_late(tmp_path: Path) -> None:
    lines = [["ab"[at % 2], f"{at % 900 + 1},500"] for at in range(3000)]
    late = [["c", "y"], *lines[:2500], ["a", "1,234,567"], *lines[2500:]]
    assert read(write(tmp_path / "t.csv", late)).training.labels[0] == 1500
    plain = [["c", "y"], *(["ab"[at % 2], f"{at}.5"] for at in range(3000)), ["a", "1,234.5"]]
    found = read(write(tmp_path / "p.csv", plain))
    assert found.training.labels[[0, 3000]].tolist() == [0.5, 1234.5]


def test_that_dates_are_read_by_the_cell_that_shows_their_order_or_asked(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=60)
    for form in ("%m/%d/%Y", "%d/%m/%y", "%d.%m.%y", "%G-W%V-%u", "%d-%b-%y", "%m/%d/%Y %I:%M %p"):
        cells = [["d", "y"], *([day.strftime(form), str(at)] for at, day in enumerate(days))]
        path = write(tmp_path / "t.csv", cells)
        chosen = {"date_order": "day_first"} if form == "%d/%m/%y" else {}
        assert features(read(path, **chosen))[:, 0].tolist() == list(range(60)), form
    cells = [["d", "y"], *([f"0{1 + at % 9}/0{1 + at % 7}/2024", str(at)] for at in range(60))]
    path = write(tmp_path / "t.csv", cells)
    problem = refused(path)
    assert (problem.code, problem.field) == ("table_dates_unclear", "data.date_order")
    assert changed(problem) == [
        {"date_order": "day_first"},
        {"date_order": "month_first"},
        {"ignore": ["d"]},
    ]
    assert features(read(path, date_order="month_first"))[1, 0] == 32
    assert features(read(path, date_order="day_first"))[1, 0] == 32
    assert features(read(path, date_order="month_first"))[7, 0] == 213


def test_that_a_day_that_does_not_exist_is_named(tmp_path: Path) -> None:
    cells = [["d", "y"], *([f"{1 + at}.01.2024", str(at)] for at in range(25)), ["31.02.2024", "3"]]
    problem = refused(write(tmp_path / "t.csv", cells))
    assert problem.code == "table_cell_misfit"
    assert 'holds "31.02.2024" in column "d", and there is no such day or time' in problem.message


@pytest.mark.parametrize(
    ("cells", "key"),
    [
        ([f"{at}.5 kg" for at in range(60)], "numbers"),
        ([f"{'$€'[at % 2]}{at}" for at in range(60)], "numbers"),
        ([f"{at} %" if at % 2 else f"{at}" for at in range(60)], "numbers"),
        ([f"{1 + at % 28} janvier 2024" for at in range(60)], "dates"),
        ([f"{at} kg" for at in range(150)], "numbers"),
        ([f"{at % 24}:{at:02}" for at in range(60)], "dates"),
    ],
)
def test_that_a_column_that_looks_like_numbers_or_dates_and_is_none_is_warned_of(
    tmp_path: Path, cells: list[str], key: str
) -> None:
    table = [["x", "c", "y"], *([each, "ab"[at % 2], f"{at}.5"] for at, each in enumerate(cells))]
    path = write(tmp_path / "t.csv", table)
    (warning,) = [each for each in read(path).notes if each.code == "table_column_seems"]
    assert (warning.severity, warning.field) == (Severity.WARNING, f"data.{key}")
    assert changed(warning) == [{"categories": ["x"]}, {key: ["x"]}, {"ignore": ["x"]}]
    assert "table_column_seems" not in codes(read(path, categories=["x"]))
    assert "table_column_seems" not in codes(read(path, ignore=["x"]))


@pytest.mark.parametrize("code", ["{:05}", "{:02}.2021"])
def test_that_codes_with_zeros_before_them_are_warned_of(tmp_path: Path, code: str) -> None:
    cells = [[code.format(at % 9 + 1), f"{at}.5"] for at in range(60)]
    path = write(tmp_path / "t.csv", [["x", "y"], *cells])
    (warning,) = [each for each in read(path).notes if each.code == "table_leading_zeros"]
    assert changed(warning) == [{"categories": ["x"]}, {"numbers": ["x"]}]
    for key in ("categories", "numbers"):
        assert "table_leading_zeros" not in codes(read(path, **{key: ["x"]}))
    assert features(read(path, categories=["x"])).shape == (60, 9)


def test_that_seasons_are_categories(tmp_path: Path) -> None:
    cells = [[f"20{7 + at % 4:02}-{8 + at % 4:02}", f"{at}.5"] for at in range(60)]
    found = read(write(tmp_path / "t.csv", [["x", "y"], *cells]))
    assert features(found)[:5].tolist() == np.eye(4)[[0, 1, 2, 3, 0]].tolist()


def test_that_a_cell_cut_within_its_quotes_moves_no_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = (f'{at}.5, "u, {at % 3}", {at}\n' for at in range(60))
    path.write_text("a, b, y\n" + "".join(rows), "utf-8")
    assert refused(str(path), target="y").code == "table_ragged"


def test_that_texts_of_parquet_that_look_like_numbers_are_warned_of_and_read_where_chosen(
    tmp_path: Path,
) -> None:
    numbers = np.arange(60) * 1000.5
    table = pa.table({"x": [f"{each:,.1f}" for each in numbers], "y": np.arange(60.0)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    (warning,) = [each for each in read(path).notes if each.code == "table_column_seems"]
    assert changed(warning)[1] == {"numbers": ["x"]}
    assert features(read(path, numbers=["x"]))[:, 0].tolist() == numbers.tolist()


def test_that_row_numbers_in_any_order_and_columns_of_pandas_are_pointed_out(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"some": rng.permutation(60) + 17, "x": rng.random(60)})
    table["y"] = rng.random(60)
    table = table.sample(frac=1.0, random_state=1).iloc[:50]
    table["some"] = rng.permutation(50)
    table.to_csv(tmp_path / "t.csv")
    again = pd.read_csv(tmp_path / "t.csv")
    again.to_csv(tmp_path / "again.csv", index=False)
    for name, index in (("t.csv", "column 1"), ("again.csv", "Unnamed: 0")):
        (hint,) = [
            each for each in read(str(tmp_path / name)).notes if each.code == "table_row_numbers"
        ]
        assert changed(hint) == [{"ignore": [index, "some"]}]


def test_that_a_column_that_alone_determines_the_target_is_pointed_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 200)
    table = pd.DataFrame(
        {
            "code": np.array(["x", "y", "z"])[label],
            "score": label * 10.0 + rng.random(200),
            "closed": np.where(label == 1, np.nan, label + 0.5),
            "name": [f"n{at % 90}" for at in range(200)],
            "noise": rng.random(200),
            "y": np.array(["a", "b", "c"])[label],
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    warnings = [
        each
        for each in read(str(tmp_path / "t.csv")).notes
        if each.code == "table_column_is_target"
    ]
    assert [changed(each) for each in warnings] == [
        [{"ignore": [name]}] for name in ("code", "score", "closed")
    ]
    table["cents"] = table["noise"] * 100
    table.drop(columns="y").to_csv(tmp_path / "v.csv", index=False)
    found = read(str(tmp_path / "v.csv"), target="cents")
    warned = [each for each in found.notes if each.code == "table_column_is_target"]
    assert [changed(each) for each in warned] == [[{"ignore": ["noise"]}]]


def looked_at(data: TableData) -> DataPreview:
    return preview(PreviewRequest(data=data))


def test_that_training_the_script_a_prediction_and_predict_py_read_a_cell_alike(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(3)
    rows = [
        [
            f"{rng.normal(0, 5000):,.2f} \u20ac".translate(str.maketrans(",.", ".,")),
            f"{rng.integers(1, 90)} %",
            f"{rng.integers(1, 13)}/{at % 28 + 1}/24",
            f"{rng.integers(1, 40) * 25:,}".replace(",", " "),
            f"{rng.random():.4f}",
        ]
        for at in range(60)
    ]
    path = write(tmp_path / "t.csv", [["a", "share", "day", "n", "y"], *rows], ";")
    data = TableData(path=path)
    trained = read(path)
    expected = features(trained)
    assert not np.isnan(expected).any()
    shown = looked_at(data)
    assert not shown.is_refused, shown.problems
    names: dict[str, Any] = {"np": np, "SEED": 1}
    exec(data_section(with_detected(Profile(data=data), shown).data), names)
    assert names["x"].tolist() == expected.tolist()
    assert names["y"].tolist() == trained.training.labels.tolist()
    # A few rows alone would show nothing.
    few = write(
        tmp_path / "few.csv", [["a", "share", "day", "n"], *(row[:4] for row in rows[:3])], ";"
    )
    reading = Reading(lambda *_: None, recipe=trained.recipe)
    source = source_of(data)
    predicted = source.read_all(TableData(path=few), reading, needs_labels=False)
    assert predicted.features.tolist() == expected[:3].tolist()
    script: dict[str, Any] = {"__name__": "predict"}
    exec(script_text(), script)
    takes = {
        "columns": json.loads(trained.recipe)["features"],
        "csv": {"delimiter": ";", "decimal": ".", "encoding": "utf-8", "has_names": True},
        "empty": [""],
    }
    for at, row in enumerate(rows[:3]):
        cells = dict(zip(["a", "share", "day", "n"], row, strict=False))
        assert script["features_of_row"](cells, takes, "row").tolist() == expected[at].tolist()
        for name, odd in (("a", "1.5"), ("share", "5"), ("day", "31/1/24"), ("n", "1,5")):
            with pytest.raises(SystemExit, match="as in training"):
                script["features_of_row"]({**cells, name: odd}, takes, "row")
            other = [["a", "share", "day", "n"], list({**cells, name: odd}.values())]
            odd_path = write(tmp_path / "odd.csv", other, ";")
            with pytest.raises(ProblemError, match=r"which is not|no such"):
                source.read_all(TableData(path=odd_path), reading, needs_labels=False)


def of_french(text: str) -> float:
    return float(text.replace("\u202f", "").replace(",", "."))


FORMS: dict[str, tuple[str, str]] = {
    "program": (".", ""),
    "english": (".", ","),
    "german": (",", "."),
    "french": (",", "\u202f"),
    "swiss": (".", "'"),
}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    form=st.sampled_from(sorted(FORMS)),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-16"]),
    order=st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%d.%m.%Y"]),
    digits=st.integers(0, 4),
    numbers=st.lists(st.integers(-(10**7), 10**7), min_size=2, max_size=30),
    days=st.data(),
)
def test_that_what_is_read_is_what_pandas_reads_when_told_or_a_problem_says_what_is_unsure(
    tmp_path: Path,
    form: str,
    delimiter: str,
    encoding: str,
    order: str,
    digits: int,
    numbers: list[int],
    days: Any,
) -> None:
    decimal, thousands = FORMS[form]
    count = len(numbers)
    dates = days.draw(
        st.lists(st.dates(pd.Timestamp("1970-01-01").date()), min_size=count, max_size=count)
    )
    cells = [["d", "x", "y"]]
    for number, date in zip(numbers, dates, strict=True):
        text = f"{number / 10**digits:{',' if thousands else ''}.{digits}f}"
        text = text.translate(str.maketrans({",": thousands, ".": decimal}))
        cells.append([f"{date:{order}}" if date.year > 999 else "", text, "7"])
    path = write(tmp_path / "t.csv", cells, delimiter, encoding)
    told = pd.read_csv(
        path,
        sep=delimiter,
        encoding=encoding,
        decimal=decimal,
        # Pandas knows ASCII only.
        thousands=thousands if thousands.isascii() and thousands else None,
        converters={} if thousands.isascii() else {"x": of_french},
        dtype={"d": str},
    )
    try:
        found = read(path, target="y", predicts="values")
    except ProblemError as error:
        (problem,) = error.problems
        assert problem.code in ("table_numbers_unclear", "table_dates_unclear")
        truth = {"decimal": decimal, "date_order": None}
        truth["date_order"] = "month_first" if order == "%m/%d/%Y" else "day_first"
        found = read(path, target="y", predicts="values", **truth)
    assert np.array_equal(features(found)[:, 1], told["x"].to_numpy(np.float32))
    since = (pd.to_datetime(told["d"], format=order) - pd.Timestamp(dates[0])).dt.days
    assert features(found)[:, 0].tolist() == since.to_numpy(np.float32).tolist()
