"""How the window goes: hidden at once, and the process when what was ordered is done."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from gpupanel.files.process_limits import time_limit_text
from gpupanel.files.process_log import write_to_process_log
from gpupanel.ui.workers.worker_thread import end_threads_of, is_work_left, wait_for_ending

LONGEST_WORK_MS = 120_000
"""What was ordered is waited for so long without a window. A resume waits 50 s at most for other
processes, a change of the queue 10 s; deleting many runs may take longer, and what it leaves has a
hidden name."""
_IDLE_MS = 500
"""Threads that are idle have ended by then; the window is hidden already."""
_LAST_WAIT_MS = 3_000
_CHECK_MS = 50
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGXCPU)


def hide_and_end(
    window: QWidget, last_order: Callable[[], None], stops: Sequence[Callable[[], None]]
) -> None:
    """Take a window off the screen and end its threads; those that work end beside.

    Args:
        window: Owns the facades of the threads.
        last_order: What threads are asked before they end.
        stops: What ends the parts of the window one by one.
    """
    window.hide()
    QGuiApplication.sync()
    last_order()
    end_threads_of(window)
    for stop in stops:
        stop()
    wait_for_ending(_IDLE_MS)


class Leaving(QObject):
    """Lets the application go when its window is closed and what was ordered is done.

    Without a window the event loop goes on: an order that fails is shown all the same, and stays
    on the screen until it is read.
    """

    def __init__(self, application: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._application = application
        self._waited_ms = 0
        self._was_done = False
        self._timer = QTimer(self, interval=_CHECK_MS)
        self._timer.timeout.connect(self._check)
        application.setQuitOnLastWindowClosed(False)

    @Slot()
    def begin(self) -> None:
        """The window was closed."""
        self._timer.start()

    @Slot()
    def _check(self) -> None:
        if any(each.isVisible() for each in self._application.topLevelWidgets()):
            self._waited_ms = 0
            return
        self._waited_ms += _CHECK_MS
        # What a thread said last may still be on its way when it has ended: checked twice.
        was_done, self._was_done = self._was_done, not is_work_left()
        if (was_done and self._was_done) or self._waited_ms > LONGEST_WORK_MS:
            self._timer.stop()
            self._application.exit(0)


class EndingSignals(QObject):
    """Ctrl+C and SIGTERM close the window; one after that ends the process at once.

    So does the end of the processor time that the process may use (SIGXCPU).

    Python's handlers run between two steps of Python code, of which there are none while Qt
    waits: the wake-up socket is what brings Qt round.

    Args:
        interrupted: What Ctrl+C does: the person may be asked whether changes may be lost.
        terminated: What SIGTERM does, and Ctrl+C while the person is asked: no question.
        is_closed: Whether the window is closed.
        parent: Owns it.
    """

    def __init__(
        self,
        interrupted: Callable[[], object],
        terminated: Callable[[], object],
        is_closed: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._interrupted, self._terminated = interrupted, terminated
        self._is_asking = False
        self._is_closed = is_closed
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)
        self._former_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        # One that is ignored stays so: under ``nohup``, or in the background of a terminal, Ctrl+C
        # is for another program.
        self._former = [
            (each, signal.signal(each, self._handle))
            for each in _SIGNALS
            if signal.getsignal(each) is not signal.SIG_IGN
        ]

    def uninstall(self) -> None:
        """Give the signals back."""
        for each, handler in self._former:
            signal.signal(each, handler)
        signal.set_wakeup_fd(self._former_fd)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    @Slot()
    def _drain(self) -> None:
        # Qt may report once more what was read already.
        with suppress(BlockingIOError):
            self._reader.recv(64)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._is_closed():
            end_process(128 + number)
        if number == signal.SIGXCPU:
            write_to_process_log(f"{time_limit_text('The window')} Runs continue without it.")
        if number != signal.SIGINT or self._is_asking:
            self._terminated()
            return
        self._is_asking = True
        try:
            self._interrupted()
        finally:
            self._is_asking = False


def leave(window: QWidget, status: int) -> None:
    """End the window's threads; where one works on, end the process under it.

    A QThread that is destroyed while it runs aborts the process, and Python's end would destroy
    it. What a worker does may be cut short at any moment: a run's files are whole all the same.
    """
    end_threads_of(window)
    if not wait_for_ending(_LAST_WAIT_MS):
        end_process(status)


def end_process(status: int) -> NoReturn:
    """End this process now, without taking anything apart."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
