"""What Ctrl+C means for a run that is followed in the terminal."""

import signal
import threading
import time
from enum import Enum, auto
from types import FrameType, TracebackType
from typing import Self

SECOND_STOP_S = 2.0
"""So long after the first Ctrl+C the second one ends nothing: it may be meant for the first."""
_HELD_KEY_S = 0.1
"""A key that is held repeats itself faster than that; no finger does."""


class InterruptMeaning(Enum):
    """What one Ctrl+C asks for."""

    STOP = auto()
    STOP_AGAIN = auto()
    """Pressed twice: the run is stopping, and nothing else is done."""
    END = auto()
    """Ended at once, without saving."""


class Interrupts:
    """Counts SIGINT while a run is followed, so that none of them comes in the middle of something.

    Where SIGINT is ignored, as under ``nohup``, it stays so.
    """

    def __init__(self) -> None:
        self._waiting: list[float] = []
        self._first_s: float | None = None
        self._last_s = float("-inf")
        self._count = 0
        self._former: object = None
        self._is_installed = False

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._former = signal.signal(signal.SIGINT, self._on_signal)
            self._is_installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, self._former)  # type: ignore[arg-type]

    def pending(self) -> tuple[InterruptMeaning, ...]:
        """What was pressed since it was asked last, each of them read by itself."""
        waiting, self._waiting = self._waiting, []
        read = (self._read(time_s) for time_s in waiting)
        return tuple(meaning for meaning in read if meaning is not None)

    def _on_signal(self, _signal: int, _frame: FrameType | None) -> None:
        self._waiting.append(time.monotonic())

    def _read(self, time_s: float) -> InterruptMeaning | None:
        is_held, self._last_s = time_s - self._last_s < _HELD_KEY_S, time_s
        if is_held:
            return None
        self._count += 1
        if self._first_s is None:
            self._first_s = time_s
            return InterruptMeaning.STOP
        is_double = self._count == 2 and time_s - self._first_s < SECOND_STOP_S
        return InterruptMeaning.STOP_AGAIN if is_double else InterruptMeaning.END
