"""How reading says what it does."""

from collections.abc import Callable

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, in words, and how many examples or bytes of how many are done;
may raise, which ends the reading."""


def ignore_progress(doing: str, done: int, total: int) -> None:
    """The :data:`OnProgress` of whoever shows none."""
