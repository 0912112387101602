"""What is shown of a process's log: its end, where it says why it ended."""

from typing import Final

_MOST_LINES: Final = 12


def last_lines(text: str) -> str:
    """The last twelve lines of a text, without blank ones around them."""
    return "\n".join(text.strip().splitlines()[-_MOST_LINES:])
