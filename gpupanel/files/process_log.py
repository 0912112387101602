"""What a process of a run, or of the queue, says in its own log."""

import os
from contextlib import suppress
from typing import Final

_STANDARD_ERROR: Final = 2
"""Whoever starts such a process lets it end in a file."""


def say_in_log(words: str) -> None:
    """Say something in this process's log, if there is space for it.

    The log may lie on the very disk of which it is to be said that it is full. That ends no
    process, and leaves nothing behind that Python would try to write when it ends: then the
    process would end with another status than it means to.
    """
    with suppress(OSError):
        os.write(_STANDARD_ERROR, f"{words}\n".encode(errors="replace"))
