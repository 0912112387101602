import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gpupanel.ui.widgets.share_bar import ShareBar
from gpupanel.ui.widgets.share_segment import ShareSegment, ink_on


@pytest.fixture
def bar(qtbot: QtBot) -> ShareBar:
    bar = ShareBar()
    qtbot.addWidget(bar)
    bar.resize(408, bar.sizeHint().height())
    return bar


def _show(bar: ShareBar, *shares: int) -> list[tuple[int, ...]]:
    """Shows shares and returns the list into which what is chosen goes."""
    bar.setSegments(
        [
            ShareSegment(share, f"Replica {index}", QColor("#0072b2"))
            for index, share in enumerate(shares)
        ]
    )
    heard: list[tuple[int, ...]] = []
    bar.sharesChosen.connect(heard.append)
    return heard


def _drag(qtbot: QtBot, bar: ShareBar, start: float, *stops: float) -> None:
    y = bar.height() // 2
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(start), y))
    for stop in stops:
        qtbot.mouseMove(bar, QPoint(round(stop), y))
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(stops[-1]), y))


def test_that_dragging_a_border_moves_examples_to_the_neighbour_and_reports_once(bar, qtbot):
    heard = _show(bar, 32, 32)
    (border,) = bar.border_positions()
    _drag(qtbot, bar, border, border + 30, border + 100)
    assert heard == [(48, 16)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shares=st.lists(st.integers(0, 500), min_size=2, max_size=8).filter(lambda each: sum(each) > 0),
    border=st.integers(0, 6),
    stops=st.lists(st.integers(-50, 450), min_size=1, max_size=4),
)
def test_that_no_drag_changes_the_sum_or_makes_a_negative_share(bar, qtbot, shares, border, stops):
    _show(bar, *shares)
    positions = bar.border_positions()
    _drag(qtbot, bar, positions[border % len(positions)], *stops)
    assert sum(bar.shares()) == sum(shares)
    assert min(bar.shares()) >= 0
    assert len(bar.shares()) == len(shares)


def test_that_a_border_stops_at_its_neighbour(bar, qtbot):
    heard = _show(bar, 20, 20, 24)
    first, second = bar.border_positions()
    _drag(qtbot, bar, first, first + 10, second + 90)
    assert heard == [(40, 0, 24)]


def test_that_borders_on_one_spot_can_be_pulled_apart_either_way(bar, qtbot):
    heard = _show(bar, 32, 0, 32)
    first, _ = bar.border_positions()
    _drag(qtbot, bar, first, first - 20, first - 50)
    assert heard[-1][0] < 32
    assert heard[-1][2] == 32
    heard = _show(bar, 32, 0, 32)
    _drag(qtbot, bar, first, first + 20, first + 50)
    assert heard[-1][0] == 32
    assert heard[-1][2] < 32


def test_that_a_border_at_the_edge_can_be_taken_back(bar, qtbot):
    heard = _show(bar, 64, 0)
    (border,) = bar.border_positions()
    _drag(qtbot, bar, border, border - 50, border - 100)
    assert heard == [(48, 16)]


def test_that_a_press_away_from_the_borders_moves_nothing(bar, qtbot):
    heard = _show(bar, 32, 32)
    _drag(qtbot, bar, 40, 80, 300)
    assert heard == []
    assert bar.shares() == (32, 32)


def test_that_the_arrow_keys_move_the_chosen_border(bar, qtbot):
    heard = _show(bar, 20, 20, 24)
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    qtbot.keyClick(bar, Qt.Key.Key_Down)
    qtbot.keyClick(bar, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert heard == [(21, 19, 24), (21, 15, 28)]


def test_that_one_replica_has_no_border(bar, qtbot):
    heard = _show(bar, 64)
    assert bar.border_positions() == ()
    assert bar.focusPolicy() is Qt.FocusPolicy.NoFocus
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert heard == []
    bar.grab()


def test_that_setting_segments_is_silent_and_ends_a_drag_that_makes_no_sense(bar, qtbot):
    heard = _show(bar, 32, 32)
    y = bar.height() // 2
    (border,) = bar.border_positions()
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(border), y))
    qtbot.mouseMove(bar, QPoint(round(border) + 40, y))
    _show(bar, 10, 20, 30)
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(border) + 40, y))
    assert heard == []
    assert bar.shares() == (10, 20, 30)


def test_that_the_shares_are_said_to_those_who_cannot_see_them(bar):
    _show(bar, 48, 16)
    assert bar.accessibleDescription() == (
        "Replica 0: 48 of 64 examples; Replica 1: 16 of 64 examples"
    )


def test_that_numbers_stand_out_from_their_colour():
    assert ink_on(QColor("#eee04a")) == QColor("black")
    assert ink_on(QColor("#0072b2")) == QColor("white")
