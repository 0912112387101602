"""Finds the error that a program has printed before it ended as if all were well."""

import re
from pathlib import Path
from typing import Final

from gpupanel.domain.visible_text import visible_line
from gpupanel.files.guarded_files import open_to_read, size_of

_LAST_BYTES: Final = 256 * 1024
_TRACEBACK: Final = re.compile(
    rb"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)+(\S[^\n]*)", re.MULTILINE
)
_LONGEST: Final = 300


class PrintedErrors:
    """The log of a program from where it begins now.

    Args:
        path: The log.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin = size_of(path)

    def last_error(self) -> str:
        """The last line of the last traceback in it; empty: there is none near its end."""
        try:
            with open_to_read(self._path) as file:
                end = file.seek(0, 2)
                # The log is kept within bounds, so it may have become shorter meanwhile.
                begin = self._begin if self._begin <= end else 0
                file.seek(max(begin, end - _LAST_BYTES))
                found = _TRACEBACK.findall(file.read(_LAST_BYTES))
        except OSError:
            return ""
        last = found[-1].decode(errors="replace") if found else ""
        return visible_line(last[:_LONGEST]).rstrip(".")
