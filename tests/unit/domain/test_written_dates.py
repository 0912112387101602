"""Dates as people write them, and what a column shows of their order."""

from datetime import UTC, datetime

import pytest

from gpupanel.domain.written_dates import DateEvidence, FoundDates, date_in, dates_in


def day(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp() / 86_400


def found(*cells: str, order: str | None = None) -> FoundDates:
    evidence = DateEvidence()
    for cell in cells:
        evidence.take(cell)
    return evidence.found(order)


@pytest.mark.parametrize(
    ("cell", "order", "days"),
    [
        ("2024-01-31", "", day(2024, 1, 31)),
        ("2024/1/5", "dmy", day(2024, 1, 5)),
        ("2024-02", "", day(2024, 2, 1)),
        ("2024-W05", "", day(2024, 1, 29)),
        ("2024-W05-3", "", day(2024, 1, 31)),
        ("2024W053", "", day(2024, 1, 31)),
        ("31.1.2024", "dmy", day(2024, 1, 31)),
        ("1/31/2024", "mdy", day(2024, 1, 31)),
        ("03/04/2024", "mdy", day(2024, 3, 4)),
        ("03/04/2024", "dmy", day(2024, 4, 3)),
        ("03-04-24", "ymd", day(2003, 4, 24)),
        ("1.1.69", "dmy", day(1969, 1, 1)),
        ("1.1.68", "dmy", day(2068, 1, 1)),
        ("31-Jan-24", "", day(2024, 1, 31)),
        ("January 31, 2024", "", day(2024, 1, 31)),
        ("1/31/2024 2:05 PM", "mdy", day(2024, 1, 31, 14, 5)),
        ("1/31/2024 12:05 am", "mdy", day(2024, 1, 31, 0, 5)),
        ("2024-01-31T10", "", day(2024, 1, 31, 10)),
        ("2024-01-31 10:00:30.5", "", day(2024, 1, 31, 10, 0, 30, 500_000)),
        ("2024-01-31 10:00 UTC", "", day(2024, 1, 31, 10)),
        ("2024-01-31T10:00Z", "", day(2024, 1, 31, 10)),
        ("2024-01-31 10:00+02:00", "", day(2024, 1, 31, 8)),
        ("2024-01-31 10:00-0230", "", day(2024, 1, 31, 12, 30)),
    ],
)
def test_that_a_date_is_read_in_the_order_of_its_column(cell: str, order: str, days: float) -> None:
    assert date_in(cell, order) == pytest.approx(days, abs=1e-9)


@pytest.mark.parametrize(
    "cell",
    [
        *("31.02.2024", "2024-02-30", "2024-W54", "13/13/2024", "31 Feb 2024"),
        *("2024-01-31 25:00", "2024-01-31 13:00 PM", "0001-01-01 00:00+01:00"),
    ],
)
def test_that_a_day_or_time_that_does_not_exist_is_a_date_without_a_meaning(cell: str) -> None:
    assert dates_in(cell) == {}


@pytest.mark.parametrize(
    "cell", ["", "5", "10:30", "20241331", "1.2.3.4", "1/2-2024", "2024-01-31 10", "x" * 100]
)
def test_that_what_is_no_date_is_none(cell: str) -> None:
    assert dates_in(cell) is None


def test_that_one_cell_shows_the_order_of_all() -> None:
    answer = found("01/02/2024", "01/31/2024")
    assert (answer.order, answer.is_sure, answer.is_known) == ("mdy", True, True)
    assert found("01/02/2024", "31/01/2024").order == "dmy"
    assert found("2024-01-31").order == ""
    assert found("2024-01-31", "5").misfits == 1


def test_that_an_order_that_no_cell_shows_is_not_sure_but_of_dates_with_points() -> None:
    assert not found("01/02/2024", "03/04/2024").is_sure
    assert found("01/02/2024", order="mdy") == FoundDates(
        "mdy", 0, is_sure=True, is_known=False, example="01/02/2024"
    )
    assert found("01.02.2024").order == "dmy"
    assert found("01.02.2024").is_sure
    assert found("01/01/2024").is_sure


def test_that_a_date_that_does_not_exist_is_a_misfit() -> None:
    assert found("31.02.2024", "13.02.2024") == FoundDates(
        "dmy", 1, is_sure=True, is_known=True, example="31.02.2024"
    )


def test_that_a_year_and_the_next_one_are_a_season_where_all_cells_are() -> None:
    for cells, are_seasons in (
        (("2007-08", "2008-09", "2007-08", "1999-00"), True),
        (("2007-08", "2008-09", "2008-10"), False),
        (("2007-08", "2007-08"), False),
    ):
        evidence = DateEvidence()
        for cell in cells:
            evidence.take(cell)
        assert evidence.are_seasons is are_seasons


@pytest.mark.parametrize(
    ("cell", "days"),
    [
        ("20240131", 19753.0),
        (" 20240131.0 ", 19753.0),
        ("20240131T060000", 19753.25),
        ("20240131120000", 19753.5),
    ],
)
def test_that_days_without_marks_are_read(cell: str, days: float) -> None:
    assert dates_in(cell) == {"": days}
    assert date_in(cell, "dmy") == days


def test_that_a_day_without_marks_that_does_not_exist_is_none() -> None:
    assert dates_in("20240230") == {}
    assert dates_in("20240131250000") == {}
