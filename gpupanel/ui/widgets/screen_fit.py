"""Windows and dialogs that are never larger than the screen that they come to stand on."""

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

FRAME: Final = QSize(8, 40)
"""Pixels that a window manager's frame takes: its sides, and its title."""


def resize_within_screen(window: QWidget, width: int, height: int) -> None:
    """Resize a window; where the screen's free area is smaller, to that less a frame.

    Args:
        window: Stands on the screen of its parent, if it has one.
        width: In pixels, where there is room.
        height: In pixels, where there is room.
    """
    screen = _screen_of(window.parentWidget() or window)
    window.resize(QSize(width, height).boundedTo(screen.availableSize() - FRAME))


def _screen_of(window: QWidget) -> QScreen:
    """The screen that the middle of a window is on.

    Not ``QWidget.screen``: PySide6 takes what that returns for a child of the widget, and a window
    that the garbage collection takes apart has Qt delete the screen; the next window crashes.
    """
    middle = window.mapToGlobal(window.rect().center())
    return QGuiApplication.screenAt(middle) or QGuiApplication.primaryScreen()
