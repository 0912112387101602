"""Inputs that leave the wheel to the page below them until they have the focus.

Scrolling through a page of settings must never change one of them by the way.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QSlider, QSpinBox, QWidget
from typing_extensions import override

TEXT_MARGIN = 6
"""Pixels before a number; a style sheet cannot set it."""


class ComboBox(QComboBox):
    """A combo box that ignores the wheel unless focused."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @override
    def wheelEvent(self, e: QWheelEvent) -> None:
        super().wheelEvent(e) if self.hasFocus() else e.ignore()


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
