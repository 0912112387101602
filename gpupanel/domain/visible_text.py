"""Text of a stranger's, made safe to show: what would act on a terminal is seen instead.

A name may hold an escape sequence that writes the clipboard, a newline that begins a line of its
own, a mark that turns the rest of the line around (https://www.unicode.org/reports/tr9/), accents
by the hundred that paint over what is above and below, or characters that nobody sees, by which two
names look alike. What joins other characters (emoji, scripts of India) stays.
"""

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 control characters, DEL
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks, embeddings and isolates of direction
    "\u2028\u2029"  # ends of line and paragraph
    "\u00ad\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # of no width
    "\u3164\uffa0"  # letters that are blank
    "\ud800-\udfff"  # half a character: a byte of a path that is no UTF-8
    "]"
)
_MARK = (
    "[\\u0300-\\u036f\\u0483-\\u0489\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]"
)
_PILED_UP = re.compile(f"({_MARK}{{4}})({_MARK}+)")
"""Combining marks upon one letter: of these blocks no language needs more than four."""
_OF_A_SENTENCE = 60
"""Characters of a stranger's that a sentence has room for."""
_BYTES_AS_SURROGATES = range(0xDC80, 0xDD00)
"""How Python holds the bytes of such a path (PEP 383)."""


def visible_line(text: str) -> str:
    r"""The text as one line: an escape stands as ``\x1b``, a newline as ``\n``, and so on."""
    return _HIDDEN.sub(lambda found: _escaped(found[0]), _without_piles(text))


def visible_beginning(text: str) -> str:
    """The beginning of a text on one line, short enough to quote in a sentence."""
    shown = visible_line(text[: _OF_A_SENTENCE + 1])
    return shown if len(shown) <= _OF_A_SENTENCE else f"{shown[: _OF_A_SENTENCE - 3]}..."


def visible_lines(text: str) -> str:
    """The text of several lines: newlines and tabs stay, all else is as in :func:`visible_line`."""
    shown = _without_piles(text)
    return _HIDDEN.sub(lambda found: found[0] if found[0] in "\n\t" else _escaped(found[0]), shown)


def visible_json(document: str) -> str:
    r"""The same document, with such characters as ``\u202e``: what it says does not change.

    Args:
        document: JSON; its strings have control characters below 32 escaped, as JSON wants it.
    """
    return _HIDDEN.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", document
    )


def as_utf8(text: str) -> str:
    r"""The text with what UTF-8 cannot hold written out: a byte of a file's name as ``\xe9``.

    Linux lets a name be any bytes; Python stands a lone surrogate in place of one that is no
    UTF-8, and events and profiles are UTF-8.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _without_piles(text: str) -> str:
    return _PILED_UP.sub(lambda found: found[1] + "".join(map(_escaped, found[2])), text)


def _escaped(character: str) -> str:
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    code = ord(character)
    if code in _BYTES_AS_SURROGATES:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
