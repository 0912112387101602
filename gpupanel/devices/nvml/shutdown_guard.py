"""Letting NVML go only when nobody is inside of it."""

import threading
from collections.abc import Callable
from types import TracebackType

from gpupanel.devices.nvml.failures import DriverFailure, DriverGoneError


class ShutdownGuard:
    """Counts the calls that are under way, so that NVML is never shut down under one.

    A context manager for the length of a call. A call may never come back, and closing waits for
    none so long: then NVML is shut down by the last call that does come back. From the moment of
    closing no call begins any more, in whatever thread.
    """

    def __init__(self, shut_down: Callable[[], None]) -> None:
        """Calls may begin.

        Args:
            shut_down: Lets NVML go; called once, in the thread that closes or in that of the
                last call.
        """
        self._shut_down = shut_down
        # By itself: a condition's own `with` costs twice as much, and each reading passes here.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._calls = 0
        self._is_open = True
        self._is_left_to_the_last_call = False

    def __enter__(self) -> None:
        """Begin a call.

        Raises:
            DriverGoneError: NVML was let go; it may not be called.
        """
        with self._lock:
            if not self._is_open:
                raise DriverGoneError(DriverFailure.NOT_INITIALIZED, "NVML was let go")
            self._calls += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End a call."""
        with self._lock:
            self._calls -= 1
            if self._is_open or self._calls:
                return
            self._changed.notify_all()
            is_left_to_me = self._is_left_to_the_last_call
        if is_left_to_me:
            self._shut_down()

    def close(self, wait_s: float) -> bool:
        """Let NVML go as soon as no call is under way.

        Args:
            wait_s: How long to wait for calls that are.

        Returns:
            Whether it is done; ``False``: the last call will do it.
        """
        with self._changed:
            if not self._is_open:
                return not self._is_left_to_the_last_call
            self._is_open = False
            if not self._changed.wait_for(lambda: not self._calls, wait_s):
                self._is_left_to_the_last_call = True
                return False
        self._shut_down()
        return True
