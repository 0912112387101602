"""Inputs that leave the wheel to the page below them until they have the focus.

Scrolling through a page of settings must never change one of them by the way.
"""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.widgets.tips import show_whole

TEXT_MARGIN = 6
"""Pixels before a number; a style sheet cannot set it."""
_AROUND_TEXT, _AROUND_ICON = 2, 4
"""Pixels, as ``QCommonStyle`` leaves them free (CE_ComboBoxLabel)."""
_FOR_READER = "label_for_reader"


class ComboBox(QComboBox):
    """A combo box that ignores the wheel unless focused.

    What does not fit has an ellipsis, and stands in the tooltip: Qt cuts it anywhere.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._elide_mode = Qt.TextElideMode.ElideRight
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def setElideMode(self, mode: Qt.TextElideMode) -> None:
        """Shorten it there instead of at its end, where the end distinguishes things."""
        self._elide_mode = mode
        self.update()

    def shownText(self) -> str:
        """What is seen of its text now; where nothing is chosen, of the words that say what is."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        control = QStyle.ComplexControl.CC_ComboBox
        room = self.style().subControlRect(control, option, field, self).width() - _AROUND_TEXT
        if not option.currentIcon.isNull():
            room -= option.iconSize.width() + _AROUND_ICON
        return self.fontMetrics().elidedText(self._words(), self._elide_mode, max(0, room))

    def _words(self) -> str:
        return self.currentText() or self.placeholderText()

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self.shownText()
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            return show_whole(self, event, self._words(), self.shownText())
        return super().event(event)

    @override
    def wheelEvent(self, e: QWheelEvent) -> None:
        super().wheelEvent(e) if self.hasFocus() else e.ignore()

    @override
    def showEvent(self, e: QShowEvent) -> None:
        super().showEvent(e)
        self._be_labelled()

    def _be_labelled(self) -> None:
        """Have a screen reader say its name, and not its value alone.

        On Linux Qt reports the value of a combo box as its name, whatever its accessible name is
        (``QAccessibleComboBox::text``): the name is that of a label with the same parent that
        belongs to it. Where the label that is seen stands elsewhere, one that nobody sees does it.
        """
        beside, name = self.parentWidget(), self.accessibleName()
        if beside is None or not name:
            return
        labels = beside.findChildren(QLabel, options=Qt.FindChildOption.FindDirectChildrenOnly)
        own = next((each for each in labels if each.buddy() is self), None)
        if own is None:
            own = QLabel(beside)
            own.setObjectName(_FOR_READER)
            own.hide()
            own.setBuddy(self)
        if own.objectName() == _FOR_READER:
            own.setText(name)


class SpinBox(QSpinBox):
    """A spin box that ignores the wheel unless focused.

    A number that is being typed is reported when it is finished: at Return, at a step, or when the
    focus leaves.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setKeyboardTracking(False)
        self.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
        self.setGroupSeparatorShown(True)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class Slider(QSlider):
    """A horizontal slider that ignores the wheel unless focused."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @override
    def wheelEvent(self, e: QWheelEvent) -> None:
        super().wheelEvent(e) if self.hasFocus() else e.ignore()
