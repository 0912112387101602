"""Looking closer at curves: a box, the wheel, Shift and dragging, and back by a double click."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from gpupanel.domain.events import RunStarted, StepsDone
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.drawn_curve import shown_bounds

START = 1_000.0
SECONDS = 400


def events():
    """An accuracy that rises from 10 % to 95 % at once, and from there to 99.6 %."""
    yield RunStarted(time_s=START, supervisor_pid=1)
    for second in range(SECONDS):
        learned = 1.0 - np.exp(-second / 5.0)
        yield StepsDone(
            time_s=START + second,
            step=second + 1,
            steps=1,
            epoch=1,
            step_in_epoch=second + 1,
            examples=64,
            loss=float(2.3 - 2.2 * learned),
            accuracy=float(0.1 + 0.85 * learned + 0.046 * second / SECONDS),
            examples_per_second=1_000.0,
        )


@pytest.fixture
def panel(qtbot):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(900, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.addEvents(list(events()))
    QTest.qWait(20)
    panel.plot_wall.redraw()
    return panel


@pytest.fixture
def wall(panel):
    return panel.plot_wall


def place(canvas, position: float, value: float) -> QPoint:
    box = canvas.getPlotItem().getViewBox()
    return canvas.mapFromScene(box.mapViewToScene(QPointF(position, value)))


def drag(canvas, start: QPoint, end: QPoint, keys=Qt.KeyboardModifier.NoModifier) -> None:
    """As a hand does: in steps, the button held."""
    view, left, none = canvas.viewport(), Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton

    def send(kind: QEvent.Type, at: QPoint, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
        local = QPointF(at)
        event = QMouseEvent(kind, local, QPointF(view.mapToGlobal(at)), button, held, keys)
        QApplication.sendEvent(view, event)
        QTest.qWait(15)  # pyqtgraph takes a hundred moves a second

    send(QEvent.Type.MouseMove, start, none, none)
    send(QEvent.Type.MouseButtonPress, start, left, left)
    for part in (0.3, 0.7, 1.0):
        send(QEvent.Type.MouseMove, start + (end - start) * part, none, left)
    send(QEvent.Type.MouseButtonRelease, end, left, none)


def test_that_a_dragged_stretch_is_shown_with_its_values_while_the_pointer_is_in_the_plot(wall):
    canvas = wall.metric_plot.canvas
    assert canvas.value_range[0] < 15.0
    y = canvas.height() // 3
    drag(
        canvas,
        QPoint(place(canvas, 100.0, 50.0).x(), y),
        QPoint(place(canvas, 390.0, 50.0).x(), y + 6),
    )
    assert canvas.time_range == pytest.approx((100.0, 390.0), abs=4.0)
    assert wall.loss_plot.canvas.time_range == canvas.time_range
    wall.redraw()
    low, high = canvas.value_range
    # 96.1 % to 99.5 % fill at least half of the plot.
    assert low > 92.0
    assert high - low < 2 * 3.4 * 1.2
    assert not wall.is_following


def test_that_a_box_chooses_values_too_until_a_double_click(wall):
    canvas = wall.loss_plot.canvas
    other = wall.metric_plot.canvas
    drag(canvas, place(canvas, 20.0, 1.0), place(canvas, 200.0, 0.5))
    wall.redraw()
    assert canvas.value_range == pytest.approx((0.5, 1.0), abs=0.02)
    assert canvas.time_range == pytest.approx((20.0, 200.0), abs=3.0)
    assert other.time_range == canvas.time_range
    QTest.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 60))
    # The pointer is in the plot all the time.
    wall.redraw()
    assert wall.is_following
    assert canvas.time_range[0] == 0.0
    assert canvas.time_range[1] >= SECONDS - 1
    assert canvas.value_range[1] > 2.0


def test_that_shift_and_dragging_moves_along_the_time(wall):
    canvas = wall.loss_plot.canvas
    canvas.setTimeRange(100.0, 200.0)
    start, end = place(canvas, 150.0, 1.0), place(canvas, 120.0, 1.0)
    drag(canvas, start, end, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.time_range == pytest.approx((130.0, 230.0), abs=3.0)
    assert wall.rate_plot.canvas.time_range == canvas.time_range


def test_that_a_click_with_an_unsteady_hand_changes_nothing(wall):
    canvas = wall.loss_plot.canvas
    shown = canvas.time_range
    start = place(canvas, 100.0, 1.0)
    drag(canvas, start, start + QPoint(3, 40))
    assert canvas.time_range == shown
    assert wall.is_following


def test_that_percent_keep_their_range_in_a_box(wall):
    canvas = wall.utilization_plot.canvas
    before = canvas.value_range
    drag(canvas, place(canvas, 50.0, 80.0), place(canvas, 250.0, 20.0))
    wall.redraw()
    assert canvas.time_range == pytest.approx((50.0, 250.0), abs=3.0)
    assert canvas.value_range == before


def test_that_only_what_is_between_the_edges_counts():
    times, values = np.array([0.0, 10.0, 20.0]), np.array([100.0, 0.0, 8.0])
    assert shown_bounds(times, values, 9.0, 11.0) == pytest.approx((0.0, 10.0))
    assert shown_bounds(times, values, 12.5, 17.5) == pytest.approx((2.0, 6.0))
    assert shown_bounds(times, values, -5.0, 30.0) == (0.0, 100.0)
    assert shown_bounds(times[:0], values[:0], 0.0, 1.0) is None
    with_gap = np.array([1.0, np.nan, 3.0])
    assert shown_bounds(times, with_gap, 5.0, 15.0) is None


def test_that_keys_alone_zoom_move_and_show_the_whole_again(panel, wall):
    button = panel.findChild(QPushButton, "live_step_axis")
    button.setFocus()
    start, end = wall.loss_plot.canvas.time_range
    QTest.keyClick(button, Qt.Key.Key_Plus)
    shown = wall.rate_plot.canvas.time_range
    assert shown == pytest.approx((end / 4, 3 * end / 4))
    QTest.keyClick(button, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert wall.rate_plot.canvas.time_range[0] == pytest.approx(end / 4 + end / 8)
    for _ in range(9):
        QTest.keyClick(button, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert wall.rate_plot.canvas.time_range == pytest.approx((0.0, end / 2))
    QTest.keyClick(button, Qt.Key.Key_Minus)
    assert wall.rate_plot.canvas.time_range == pytest.approx((0.0, end))
    assert not wall.is_following
    for _ in range(30):
        QTest.keyClick(button, Qt.Key.Key_Plus)
    shown = wall.rate_plot.canvas
    # As close as one can come, not closer than what is drawn.
    assert shown.time_range == pytest.approx(shown.getPlotItem().getViewBox().viewRange()[0])
    QTest.keyClick(button, Qt.Key.Key_0)
    assert wall.is_following
    assert wall.loss_plot.canvas.time_range == (start, end)
