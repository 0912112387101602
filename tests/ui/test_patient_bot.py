"""What tests of the window rely on: widgets that they hand over stay as they are until closed."""

import gc
import weakref

from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override


class _Closed(QWidget):
    def __init__(self, closed: list[str]) -> None:
        super().__init__()
        self._itself, self._closed = self, closed

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self._closed.append("closed")
        super().closeEvent(event)


def test_that_a_widget_that_a_test_lets_go_of_is_there_until_it_is_closed(qtbot: QtBot) -> None:
    closed: list[str] = []
    widget = _Closed(closed)
    qtbot.addWidget(widget)
    there = weakref.ref(widget)
    del widget
    gc.collect()
    assert there() is not None
