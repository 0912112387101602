"""Unexpected errors, shown to the person instead of in a terminal that nobody reads."""

import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.problem import Problem


class ErrorBridge(QObject):
    """Takes exceptions that nothing caught, of any thread, to whoever shows them."""

    raised = Signal(object)
    """The :class:`Problem`; each kind of error is reported once, however often it comes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reported: set[str] = set()
        self._hooks = (sys.excepthook, threading.excepthook)

    def install(self) -> None:
        """Take over Python's hooks for exceptions that nothing caught."""
        self._hooks = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception

    def uninstall(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._hooks

    def _on_exception(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        self._hooks[0](kind, error, trace)  # the terminal gets it too
        if issubclass(kind, KeyboardInterrupt):
            return
        frames = traceback.extract_tb(trace)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        if (key := f"{kind.__name__} {place}") in self._reported:
            return
        self._reported.add(key)
        self.raised.emit(_problem(kind, error, trace))

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)


def _problem(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> Problem:
    return Problem(
        code="unexpected_error",
        message=f"An error occurred in gpupanel's window: {str(error) or kind.__name__}.",
        hint="Runs are not affected. Save the profile and open the window again; please "
        "report the lines below.",
        detail="".join(traceback.format_exception(kind, error, trace)),
    )
