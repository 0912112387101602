"""Lines that this process writes for the panel: one write a line, so that none is mixed.

The file is made by the panel and is there only while it watches; without it nothing is written.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from typing import Any

LONGEST_MESSAGE = 2000
"""Characters of an error's own words."""


class Reports:
    """Appends to the file of reports.

    Args:
        folder: Of the run; empty: there is none.
    """

    def __init__(self, folder: str) -> None:
        self._lock = threading.Lock()
        self._is_cut = False
        self._file: int | None = None
        if folder:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            with suppress(OSError):  # the panel does not watch, or not any more
                self._file = os.open(os.path.join(folder, "reports.jsonl"), flags)
        self._process = os.getpid()

    def write(self, kind: str, **values: Any) -> None:
        """Write a line, if the panel reads it and this is no process that the program has forked.

        Args:
            kind: Of the report.
            values: What it says, as JSON takes it.
        """
        if self._file is None or os.getpid() != self._process:
            return
        line = json.dumps({"kind": kind, "time_s": time.time(), **values})
        # A disk that is full ends no program of the person's. Of a line that found no room on it
        # the end is missing: the next is not part of it.
        with self._lock, suppress(OSError):
            content = b"\n" * self._is_cut + line.encode() + b"\n"
            self._is_cut = os.write(self._file, content) < len(content)

    def failed(self, error: BaseException) -> None:
        """Say what the program raised, and in which of its lines."""
        place = None
        traceback = error.__traceback__
        while traceback is not None:
            name = traceback.tb_frame.f_code.co_filename
            if "site-packages" not in name and not name.startswith(os.path.dirname(__file__)):
                place = [name, traceback.tb_lineno]
            traceback = traceback.tb_next
        self.write(
            "failed",
            error=type(error).__name__,
            message=_words(error)[:LONGEST_MESSAGE],
            place=place,
        )


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""  # its own way to say what it is fails, too
