"""Curves in a page: every point in the picture, whatever was measured."""

import itertools
import re

import pytest

from gpupanel.runs.report.chart import Line, chart, fractions, histogram, reliability, scatter


def places(page: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]
        for points in re.findall(r'<polyline points="([^"]*)"', page)
    ]


def ends(page: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Between which places the axes are: from left to right, and downward."""
    found = re.findall(
        r'<line x1="([^"]*)" x2="([^"]*)" y1="([^"]*)" y2="[^"]*" class="grid"', page
    )
    heights = [float(y) for _, _, y in found]
    return (float(found[0][0]), float(found[0][1])), (min(heights), max(heights))


def written(page: str) -> list[tuple[float, str, str]]:
    """The numbers of the lower axis: where, which side of that, and what."""
    pattern = r'<text x="([^"]*)" y="219.0" text-anchor="([^"]*)">([^<]*)</text>'
    return [(float(x), side, words) for x, side, words in re.findall(pattern, page)]


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
    (left, right), (top, bottom) = ends(page)
    assert 0 < left < right < 560
    assert all(left <= x <= right and top <= y <= bottom for x, y in drawn)
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


@pytest.mark.parametrize("most", [7.0, 1_500.0, 1_400_000.0, 3e-7])
def test_that_numbers_of_an_axis_are_neither_cut_nor_written_over_each_other(most: float) -> None:
    page = scatter("Predicted", "true value", [(0.0, 0.0), (most, most)])
    wide = 10.2  # of a digit, where letters are the largest
    spans = []
    for x, side, words in written(page):
        middle = x - wide * len(words) / 2 if side == "end" else x
        spans.append((middle - wide * len(words) / 2, middle + wide * len(words) / 2))
    assert len(spans) >= 2
    assert spans[-1][1] <= 560.5
    assert all(one[1] < next_one[0] for one, next_one in itertools.pairwise(spans))
    left, _ = ends(page)[0]
    upward = re.findall(r'dy="0.32em" text-anchor="end">([^<]*)<', page)
    assert wide * max(map(len, upward)) <= left - 8


def test_that_fractions_are_drawn_from_0_to_1_and_have_no_last_value() -> None:
    page = fractions("Both", "threshold", [Line("precision", [(0.2, 0.5), (0.4, 0.75)])])
    assert "precision</span>" in page
    assert [words for _, _, words in written(page)] == ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    (drawn,) = places(page)
    (left, right), (top, bottom) = ends(page)
    assert drawn[0] == pytest.approx((left + 0.2 * (right - left), (top + bottom) / 2), abs=0.1)


def test_that_a_calibration_has_its_points_and_the_diagonal() -> None:
    page = reliability("Accuracy", "confidence", [(0.65, 0.4), (0.95, 1.0)])
    assert page.count("<circle") == 2
    assert 'class="axis dashed"' in page


def test_that_bars_stand_where_their_bins_are() -> None:
    page = histogram("Examples", "confidence", [0, 0, 3, 1], (0.0, 1.0))
    (left, right), _ = ends(page)
    begins = [float(x) for x in re.findall(r'd="M([0-9.]+)', page)]
    expected = [left + part * (right - left) for part in (0.0, 0.25, 0.5, 0.75)]
    assert begins == pytest.approx(expected, abs=0.1)
    assert histogram("Examples", "confidence", [1], (0.0, 0.0)) == ""
