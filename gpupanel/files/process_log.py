"""What a process of a run, or of the queue, says in its own log."""

import os
from contextlib import suppress
from typing import Final

from gpupanel.domain.visible_text import visible_line, visible_lines

_STANDARD_ERROR: Final = 2
"""Whoever starts such a process lets it end in a file."""


def write_to_process_log(sentence: str, detail: str = "") -> None:
    """Say something in this process's log, if there is space for it.

    The log may lie on the very disk of which it is to be said that it is full. That ends no
    process, and leaves nothing behind that Python would try to write when it ends: then the
    process would end with another status than it means to.

    Args:
        sentence: One line, whatever stands in it: a file's name may hold line ends.
        detail: What is behind it, such as a trace; each of its lines is marked as such.
    """
    lines = [visible_line(sentence), *(f"| {line}" for line in visible_lines(detail).splitlines())]
    with suppress(OSError):
        os.write(_STANDARD_ERROR, "".join(f"{line}\n" for line in lines).encode(errors="replace"))
