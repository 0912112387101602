"""Zooming plots by keys alone."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

_CLOSER, _FARTHER, _MOVED = 0.5, 2.0, 0.25
"""Which part of the shown span a key zooms in, zooms out and moves by."""


class ZoomKeys(QObject):
    """``+`` and ``-`` zoom, Shift and the arrows move, ``0`` shows the whole again.

    Args:
        widget: The keys work while the focus is in it.
        span: The part of the axis that is shown.
        show: Shows another part, as a person who zooms does.
        show_whole: Shows all of it again.
    """

    def __init__(
        self,
        widget: QWidget,
        span: Callable[[], tuple[float, float]],
        show: Callable[[float, float], object],
        show_whole: Callable[[], object],
    ) -> None:
        super().__init__(widget)
        self._span, self._show, self._show_whole = span, show, show_whole
        slots = {
            "+": self._zoom_in,
            "-": self._zoom_out,
            "Shift+Left": self._move_left,
            "Shift+Right": self._move_right,
            "0": self._reset,
        }
        for keys, slot in slots.items():
            shortcut = QShortcut(QKeySequence(keys), widget)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)

    @Slot()
    def _zoom_in(self) -> None:
        self._scale(_CLOSER)

    @Slot()
    def _zoom_out(self) -> None:
        self._scale(_FARTHER)

    @Slot()
    def _move_left(self) -> None:
        self._move(-_MOVED)

    @Slot()
    def _move_right(self) -> None:
        self._move(_MOVED)

    @Slot()
    def _reset(self) -> None:
        self._show_whole()

    def _scale(self, factor: float) -> None:
        start, end = self._span()
        middle, half = (start + end) / 2.0, (end - start) / 2.0 * factor
        begin = max(0.0, middle - half)
        self._show(begin, begin + 2.0 * half)

    def _move(self, part: float) -> None:
        start, end = self._span()
        way = max(-start, part * (end - start))
        self._show(start + way, end + way)
