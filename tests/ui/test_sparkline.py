"""The curve of a reading on a device's card."""

import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from gpupanel.ui.widgets.sparkline import Sparkline

AREA = QRectF(0.0, 0.0, 7.0, 100.0)


def _points(*values: float | None) -> list[list[tuple[float, float]]]:
    line = Sparkline(length=8)
    line.setValues(values)
    return [[point.toTuple() for point in piece] for piece in line._pieces(AREA)]


def test_that_of_a_level_stretch_only_the_ends_are_drawn(qtbot: QtBot) -> None:
    assert _points(0.0, 0.0, 0.0, 0.0, 50.0, 50.0, 50.0, 10.0) == [
        [(0.0, 100.0), (3.0, 100.0), (4.0, 50.0), (6.0, 50.0), (7.0, 90.0)]
    ]


def test_that_nothing_is_drawn_before_the_first_reading(qtbot: QtBot) -> None:
    assert Sparkline()._pieces(AREA) == []


def test_that_a_gap_divides_the_curve(qtbot: QtBot) -> None:
    assert _points(5.0, 5.0, None, None, 5.0, 5.0, 5.0, 5.0) == [
        [(0.0, 95.0), (1.0, 95.0)],
        [(4.0, 95.0), (7.0, 95.0)],
    ]


@pytest.mark.parametrize(("value", "is_drawn"), [(0.0, False), (3.0, True)])
def test_that_a_device_that_idles_is_not_drawn_anew(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, value: float, is_drawn: bool
) -> None:
    line = Sparkline(length=4)
    line.setValues((0.0, 0.0, 0.0, 0.0))
    drawn = []
    monkeypatch.setattr(line, "update", lambda: drawn.append(True))
    line.add(value)
    assert bool(drawn) is is_drawn
