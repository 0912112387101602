"""Curves in a page: every point in the picture, whatever was measured."""

import re

import pytest

from gpupanel.runs.report.chart import Line, chart


def places(page: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]
        for points in re.findall(r'<polyline points="([^"]*)"', page)
    ]


def test_that_a_curve_has_all_its_points_from_left_to_right_and_upward() -> None:
    (drawn,) = places(chart("Loss", "step", [Line("training", [(x, x**2) for x in range(800)])]))
    assert len(drawn) == 800
    across, upward = zip(*drawn, strict=True)
    assert list(across) == sorted(across)
    assert list(upward) == sorted(upward, reverse=True)


@pytest.mark.parametrize(
    "values",
    [
        [3.0],
        [0.0, 0.0],
        [5.0, 5.0, 5.0],
        [0.0, 5e-324],
        [1e-320, 2e-320],
        [-1e29, 1e29],
        [1e29, 1e29 * (1 + 1e-12)],
        [1.0, 1.0 + 1e-12],
        [0.001, 0.0],
        [9_999_999.0, 12_345_678.0],
    ],
    ids=repr,
)
def test_that_any_numbers_are_drawn_inside_of_the_picture(values: list[float]) -> None:
    page = chart("Loss", "epoch", [Line("training", list(enumerate(values)))])
    (drawn,) = places(page)
    assert len(drawn) == len(values)
    assert all(62 <= x <= 546 and 10 <= y <= 192 for x, y in drawn)
    marks = re.findall(r"<text [^>]*>([^<]+)</text>", page)
    assert 3 <= len(marks) <= 20
    assert not {"nan", "inf"} & set(marks)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1e300])
def test_that_what_is_no_measurement_is_left_out(odd: float) -> None:
    (drawn,) = places(chart("Loss", "step", [Line("training", [(1, 2.0), (2, odd), (3, 1.0)])]))
    assert len(drawn) == 2
    assert chart("Loss", "step", [Line("training", [(1, odd)])]) == ""


def test_that_marks_are_round_numbers() -> None:
    page = chart("Loss", "step", [Line("training", [(0, 0.13), (1_700, 2.31)])])
    marks = re.findall(r"<text [^>]*>([^<]+)</text>", page)
    assert marks == [
        "0",
        "0.5",
        "1.0",
        "1.5",
        "2.0",
        "2.5",
        "0",
        "500",
        "1,000",
        "1,500",
        "2,000",
        "step",
    ]


def test_that_curves_are_told_apart_without_their_colours() -> None:
    page = chart("Loss", "step", [Line("a", [(0, 1), (1, 2)]), Line("b", [(0, 1), (1, 2)], 1)])
    assert 'class="line s0"' in page
    assert 'class="line s1"' in page
    assert page.count("<circle") == 2
