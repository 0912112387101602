"""Numbers as people write them, and what a column shows of how it writes them."""

import math

import pytest

from gpupanel.domain.written_numbers import (
    FoundNumbers,
    NumberEvidence,
    NumberForm,
    all_numbers,
    detected_forms,
    is_not_finite,
    is_number,
    meanings_of,
    number_in,
    parts_of_number,
    plain_number,
)

ENGLISH, GERMAN = NumberForm(".", ", '"), NumberForm(",", ". '")


def found(*cells: str, decimal: str | None = None) -> FoundNumbers:
    evidence = NumberEvidence()
    for cell in cells:
        evidence.take(cell)
    return evidence.found(decimal)


@pytest.mark.parametrize(
    ("cell", "form", "number"),
    [
        ("1,234.5", ENGLISH, 1234.5),
        ("1,234", ENGLISH, 1234),
        ("1,23,456", ENGLISH, 123456),
        ("12,34,567.25", ENGLISH, 1234567.25),
        ("1'234.5", ENGLISH, 1234.5),
        ("1\u2019234", ENGLISH, 1234),
        ("1 234.5", ENGLISH, 1234.5),
        ("1.234,5", GERMAN, 1234.5),
        ("1.234", GERMAN, 1234),
        ("1\u00a0234,5", GERMAN, 1234.5),
        ("1\u202f234\u202f567", GERMAN, 1234567),
        ("0,123", GERMAN, 0.123),
        ("1234,567", GERMAN, 1234.567),
        ("1,5E3", GERMAN, 1500),
        ("5,", GERMAN, 5),
        (",5", GERMAN, 0.5),
        ("(1,234)", ENGLISH, -1234),
        ("5-", ENGLISH, -5),
        ("\u22125", ENGLISH, -5),
        ("+1,234", ENGLISH, 1234),
        ("\uff11\uff12.\uff15", ENGLISH, 12.5),
        ("\u200b12\u2060.5", ENGLISH, 12.5),
        ("\u0661\u066c\u0662\u0663\u0664\u066b\u0665", NumberForm("\u066b", "\u066c"), 1234.5),
        ("inf", ENGLISH, math.inf),
        ("1.5e3", NumberForm(), 1500),
        (" .5 ", NumberForm(), 0.5),
    ],
)
def test_that_a_number_of_any_locale_is_read(cell: str, form: NumberForm, number: float) -> None:
    assert number_in(cell, form) == number


@pytest.mark.parametrize(
    ("cell", "unit", "number"),
    [
        ("$1,234.50", "$", 1234.5),
        ("-$5", "$", -5),
        ("$-5", "$", -5),
        ("$(5)", "$", -5),
        ("($5)", "$", -5),
        ("5 \u20ac", "\u20ac", 5),
        ("Rs.500", "RS.", 500),
        ("CHF 1'234.50", "CHF", 1234.5),
        ("R$ 5", "R$", 5),
        ("TRY 5", "TRY", 5),
        ("5kr", "KR", 5),
        ("12.5 %", "%", 12.5),
    ],
)
def test_that_the_unit_of_a_column_is_read_and_no_other(
    cell: str, unit: str, number: float
) -> None:
    assert number_in(cell, ENGLISH._replace(unit=unit)) == number
    assert number_in(cell, ENGLISH) is None
    assert number_in(cell, ENGLISH._replace(unit="\u00a3")) is None


def test_that_a_number_without_percent_is_none_among_those_with_it() -> None:
    assert number_in("5", ENGLISH._replace(unit="%")) is None
    assert number_in("5", ENGLISH._replace(unit="$")) == 5


@pytest.mark.parametrize(
    "cell",
    [
        *("", "-", "1.2.3", "1,5,6", "1 2", "5 kg", "RM101", "TRY1", "1_000", "5\u00b2", "10:30"),
        *(
            "$5 USD",
            "--5",
            "(-5)",
            "(5",
            "5)",
            "0x1A",
            "555 123 4567",
            "1,234,567e3",
            "1" * 101,
            "1e",
        ),
        *("012,345.5", "1.5\u066b3"),
    ],
)
def test_that_what_is_no_number_is_none(cell: str) -> None:
    assert parts_of_number(cell) is None
    assert number_in(cell, ENGLISH._replace(thousands="")) is None or len(cell) > 100


def test_that_a_cell_of_another_form_is_no_number() -> None:
    assert number_in("1.234,5", ENGLISH) is None
    assert number_in("1,234", NumberForm()) is None


@pytest.mark.parametrize(
    ("cells", "form", "example"),
    [
        (("1,234", "2,345.5"), NumberForm(".", ","), "1,234"),
        (("1,234", "1,234,567"), NumberForm(".", ","), "1,234"),
        (("1,234", "2,5"), NumberForm(","), "1,234"),
        (("1.234", "2,5"), NumberForm(",", "."), "2,5"),
        (("1.234", "2.5"), NumberForm("."), ""),
        (("1 234", "5"), NumberForm(".", " "), "1 234"),
        (("1 234,5", "5"), NumberForm(",", " "), "1 234,5"),
        (("$5", "6", "(7)"), NumberForm(".", "", "$"), "$5"),
        (("5%", "6 %"), NumberForm(".", "", "%"), "5%"),
        (("1.5e3", "5", "1e3", "+.5"), NumberForm("."), ""),
        (("\u0661\u066b\u0665",), NumberForm("\u066b"), "\u0661\u066b\u0665"),
        (("inf", "5"), NumberForm("."), ""),
    ],
)
def test_that_one_cell_shows_how_all_are_written(
    cells: tuple[str, ...], form: NumberForm, example: str
) -> None:
    answer = found(*cells)
    assert (answer.form, answer.misfits, answer.is_sure) == (form, 0, True)
    assert answer.example == example


def test_that_numbers_that_may_be_two_are_not_sure_until_the_table_shows_it() -> None:
    assert not found("1,234", "2,345").is_sure
    assert not found("1.234", "2.345").is_sure
    assert found("1,234", decimal=",").form == NumberForm(",")
    assert found("1,234", decimal=".").form == NumberForm(".", ",")
    assert found("1,234", decimal=".").is_sure
    # What the column shows is not overruled.
    assert found("1,5", decimal=".").form == NumberForm(",")


def test_that_cells_of_two_forms_or_units_do_not_fit() -> None:
    assert found("1.5", "2.5", "1,5").misfits == 1
    assert found("$5", "$6", "\u20ac7").misfits == 1
    assert found("5%", "6").misfits == 1
    assert found("5", "six", "7").misfits == 1


def test_that_a_number_is_one_in_any_locale_and_a_name_with_a_unit_is_none() -> None:
    assert all(map(is_number, ("1", " 1.5 ", "1e3", "1.234,5", "1 234,5", "(7)", "\uff11")))
    assert not any(map(is_number, ("", "a", "Top 10", "25%", "1.2.3", "NA")))


def test_that_no_digit_is_lost_of_a_number_as_python_writes_it() -> None:
    assert plain_number("20.230.101.000.000.001", GERMAN) == "20230101000000001"
    assert plain_number("(20.230.101,50)", GERMAN) == "-20230101.50"
    assert plain_number(" 12345678901234567890 ", ENGLISH) == "12345678901234567890"
    assert plain_number("1.234,5", ENGLISH) is None


def test_that_one_column_shows_how_another_is_written() -> None:
    sure, unsure = detected_forms([["1,5", "2,25"], ["1,000", "2,000"]])
    assert (unsure.form.decimal, unsure.is_sure, sure.is_sure) == (",", True, True)
    (alone,) = detected_forms([["1,000"]])
    assert not alone.is_sure
    (chosen,) = detected_forms([["1,000"]], ".")
    assert (chosen.is_sure, number_in("1,000", chosen.form)) == (True, 1000)


def test_that_all_meanings_of_a_number_are_known() -> None:
    assert meanings_of("-1,234") == {",": "-1.234", ".": "-1234"}
    assert meanings_of("1.234") == {".": "1.234", ",": "1234"}
    assert meanings_of("7") == {".": "7"}
    assert meanings_of("x") == {}


def test_that_only_finite_numbers_are_numbers() -> None:
    assert all_numbers(["1", "1,5", "$5"])
    assert not all_numbers(["1", "nan"])
    assert not all_numbers(["1", "x"])
    assert is_not_finite(" -Inf ")
