"""Text of somebody else's that is put into sentences and logs: what controls a terminal is shown.

Names of files and folders may hold any character but ``/`` and NUL, line ends included: written as
they are they would end a line of a log and begin one of their own.
"""

import unicodedata
from typing import Final

_BIDIRECTIONAL: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def escaped(text: str, kept: str = "") -> str:
    r"""The text with control characters, line ends and bidirectional marks as escapes.

    Bytes that are no UTF-8, as Python keeps them in file names, become ``\xff``.

    Args:
        text: Any.
        kept: Characters that stay, such as line ends.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(each) if _is_control(each) and each not in kept else each for each in text
    )


def escaped_lines(text: str) -> str:
    """The same for text of several lines, whose ends and tabs stay."""
    return escaped(text, "\n\t")


def as_utf8(text: str) -> str:
    r"""The text with what UTF-8 cannot hold written out: a byte of a file's name as ``\xe9``.

    Linux lets a name be any bytes; Python stands a lone surrogate in place of one that is no
    UTF-8, and events and profiles are UTF-8.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _CATEGORIES or character in _BIDIRECTIONAL


def _escape(character: str) -> str:
    code = ord(character)
    # 0xDC80 to 0xDCFF stand for single bytes (PEP 383).
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return short or (f"\\x{byte:02x}" if byte <= 0xFF else f"\\u{code:04x}")
