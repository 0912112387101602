"""Windows and dialogs that are never larger than the screen that they come to stand on."""

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME: Final = QSize(8, 40)
"""Pixels that a window manager's frame takes: its sides, and its title."""


def resize_within_screen(window: QWidget, width: int, height: int) -> None:
    """Resize a window; where the screen's free area is smaller, to that less a frame.

    Args:
        window: Stands on the screen of its parent, if it has one.
        width: In pixels, where there is room.
        height: Likewise.
    """
    screen = (window.parentWidget() or window).screen()
    window.resize(QSize(width, height).boundedTo(screen.availableSize() - FRAME))
