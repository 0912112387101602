"""Integers of files: what no column, plot or float can hold is damage, or was made to do harm.

JSON and TOML as Python reads them bound no integer; whatever is computed with one of 400 digits
raises ``OverflowError``. TOML itself asks for 64 bits (https://toml.io/en/v1.0.0#integer).
"""

import re
from typing import Final

from pydantic_core import from_json

_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1
_MANY_DIGITS: Final = re.compile(rb"(?<![.\d])\d{19}")
"""Not behind the point of a number, where most small losses have as many."""


def integer_beyond_64_bits(document: object) -> tuple[str, ...] | None:
    """The path of the first integer that 64 bits cannot hold, as keys and positions.

    Args:
        document: Dictionaries, lists and what is in them, however deep.

    Returns:
        ``None``: there is none.
    """
    waiting: list[tuple[tuple[str, ...], object]] = [((), document)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            waiting += [((*path, str(key)), value) for key, value in reversed(node.items())]
        elif isinstance(node, list):
            waiting += [((*path, str(place)), value) for place, value in enumerate(node)][::-1]
        elif isinstance(node, int) and not _LEAST <= node <= _MOST:
            return path
    return None


def json_has_integer_beyond_64_bits(text: bytes) -> bool:
    """Whether a JSON text holds such an integer; false where it is no JSON."""
    if not _MANY_DIGITS.search(text):
        return False
    try:
        return integer_beyond_64_bits(from_json(text)) is not None
    except ValueError:
        return False
