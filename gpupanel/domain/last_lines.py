"""What is shown of a process's log: its end, where it says why it ended."""

from typing import Final

_MOST_LINES: Final = 12
_MOST_CHARACTERS: Final = 16 * 1024
"""A process may print megabytes without the end of a line."""


def last_lines(text: str) -> str:
    """The last twelve lines of a text, without blank ones around them, and no more than 16 KiB."""
    return "\n".join(text.strip()[-_MOST_CHARACTERS:].splitlines()[-_MOST_LINES:])
