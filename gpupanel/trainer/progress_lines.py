"""How a process that was asked for something reports: lines of JSON on standard output.

Each line is an object with one key, ``progress`` while the work continues; the module of such a
process documents its others. The process ends with the one that asked.
"""

import json
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

from gpupanel.domain.value import Value

_REPORT_S = 0.1


class ProgressLines:
    """Writes progress at most ten times a second, and ends the process when its parent is gone."""

    def __init__(self) -> None:
        self._parent = os.getppid()
        self._reported_s = -1.0

    def progress(self, value: Value, *, is_last: bool = False) -> None:
        """Write a progress value, at most one in a tenth of a second; the last one always."""
        self.end_when_orphaned()
        now_s = time.monotonic()
        if now_s - self._reported_s >= _REPORT_S or is_last:
            self._reported_s = now_s
            self.write("progress", value)

    def end_when_orphaned(self) -> None:
        """End the process if its parent process is gone."""
        if os.getppid() != self._parent:
            sys.exit(1)

    @staticmethod
    def write(key: str, value: Value) -> None:
        """Write a line."""
        # Not pydantic's own JSON: it refuses half characters, and paths may hold some.
        sys.stdout.write(json.dumps({key: value.model_dump(mode="json")}) + "\n")
        sys.stdout.flush()


def end_on_sigterm() -> None:
    """End by an exception, so that a file that is half written is removed."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    sys.exit(128 + number)
