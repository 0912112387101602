import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from gpupanel.ui.inputs.quiet_inputs import ComboBox, Slider, SpinBox


def wheel(widget: QWidget) -> bool:
    """Turn the wheel one notch down over a widget; whether it was taken."""
    middle = QPointF(widget.rect().center())
    event = QWheelEvent(
        middle,
        widget.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    event.setAccepted(False)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def combo() -> ComboBox:
    box = ComboBox()
    box.addItems(["a", "b", "c"])
    return box


def shown_value(widget: QWidget) -> object:
    return widget.currentIndex() if isinstance(widget, ComboBox) else widget.value()


@pytest.mark.parametrize("make", [combo, SpinBox, Slider])
def test_that_the_wheel_changes_only_what_has_the_focus(qtbot, make):
    page = QWidget()
    qtbot.addWidget(page)
    widget, other = make(), QLineEdit()
    layout = QVBoxLayout(page)
    layout.addWidget(other)
    layout.addWidget(widget)
    if not isinstance(widget, ComboBox):
        widget.setRange(0, 100)
        widget.setValue(50)
    page.show()
    page.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    before = shown_value(widget)
    assert not wheel(widget)
    assert shown_value(widget) == before
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    wheel(widget)
    assert shown_value(widget) != before


def test_that_a_box_without_a_choice_says_what_is_chosen(qtbot):
    box = ComboBox()
    qtbot.addWidget(box)
    box.addItems(["first", "second"])
    box.setPlaceholderText("Runs")
    box.setCurrentIndex(-1)
    box.resize(200, 30)
    assert box.shownText() == "Runs"
    box.setCurrentIndex(1)
    assert box.shownText() == "second"


def test_that_a_number_is_reported_once_when_it_is_finished(qtbot):
    box = SpinBox()
    qtbot.addWidget(box)
    box.setRange(0, 99_999)
    reported = []
    box.valueChanged.connect(reported.append)
    box.show()
    box.selectAll()
    QTest.keyClicks(box, "4096")
    assert reported == []
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert reported == [4096]
