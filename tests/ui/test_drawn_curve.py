"""A curve of a single point is seen, as a run that ended early has one."""

import numpy as np
import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gpupanel.ui.plots.curve import Curve, FixedPoints
from gpupanel.ui.plots.drawn_curve import DrawnCurve


def drawn(*values: float, has_dots: bool = False) -> DrawnCurve:
    places = np.arange(5.0, 5.0 + len(values))
    points = FixedPoints(places, np.asarray(values))
    curve = Curve(points, "loss", lambda: QColor("blue"), str, "1.0", has_dots=has_dots)
    made = DrawnCurve(curve)
    made.redraw(0.0, 10.0, 100)
    return made


def test_that_a_single_point_is_a_short_line(qtbot: QtBot) -> None:
    curve = drawn(2.0)
    times, values = curve.items[0].getData()
    assert times.tolist() == pytest.approx([4.7, 5.3])  # 6 of 100 pixels
    assert values.tolist() == [2.0, 2.0]
    assert curve.bounds() == (2.0, 2.0)


def test_that_points_with_dots_or_several_ones_stay_where_they_are(qtbot: QtBot) -> None:
    times, _ = drawn(2.0, has_dots=True).items[0].getData()
    assert times.tolist() == [5.0]
    times, _ = drawn(2.0, 3.0).items[0].getData()
    assert times.tolist() == [5.0, 6.0]


def test_that_dots_give_way_to_the_line_where_they_would_be_a_band(qtbot: QtBot) -> None:
    few, many = drawn(*range(10), has_dots=True), drawn(*range(500), has_dots=True)
    for curve in (few, many):
        curve.redraw(0.0, 600.0, 600)
    assert len(few.items[1].getData()[0]) == 10
    assert len(many.items[1].getData()[0]) == 0
    assert len(many.items[0].getData()[0]) == 500
