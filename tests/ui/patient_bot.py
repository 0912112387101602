"""Waiting for what a window does, also where much else goes on."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

_USUAL_MS = 5_000
"""pytest-qt's own limit, which is no statement of how quick something has to be."""
_LONGEST_MS = 120_000


def patient(limit_ms: int) -> int:
    """A limit that only what never comes reaches; a shorter one than the usual is meant."""
    return max(limit_ms, _LONGEST_MS) if limit_ms >= _USUAL_MS else limit_ms


class PatientBot(QtBot):
    """Waits as long as a busy machine takes, and holds what it closes after the test.

    pytest-qt knows widgets by weak references. One that a test lets go of before could be
    collected as it is: its Python half first, and what its signals reach then finds nothing.
    """

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self._held: dict[int, QWidget] = {}

    def addWidget(self, widget: QWidget, **named: Any) -> None:
        held, place = self._held, id(widget)
        held[place] = widget
        # One that Qt has deleted cannot be closed.
        widget.destroyed.connect(lambda: held.pop(place, None))
        super().addWidget(widget, **named)

    def waitUntil(self, callback: Callable[[], Any], *, timeout: int = _USUAL_MS) -> None:
        super().waitUntil(callback, timeout=patient(timeout))

    def waitSignal(self, signal: SignalInstance, *, timeout: int = _USUAL_MS, **named: Any) -> Any:
        return super().waitSignal(signal, timeout=patient(timeout), **named)

    def waitSignals(
        self, signals: list[SignalInstance], *, timeout: int = _USUAL_MS, **named: Any
    ) -> Any:
        return super().waitSignals(signals, timeout=patient(timeout), **named)

    def waitExposed(self, widget: QWidget, *, timeout: int = _USUAL_MS) -> Any:
        return super().waitExposed(widget, timeout=patient(timeout))
