"""What a person must know of a text whose encoding was guessed, since it is not UTF-8."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.visible_text import visible_line

_GUESSED: Final = frozenset({"cp1252", "iso8859-15"})
_OTHERS: Final = ("cp1251", "shift_jis", "gb18030", "euc_kr", "iso8859-2")
"""Encodings that people's files have where they are neither UTF-8 nor Western European."""
_WORD: Final = re.compile(r"[^\s,;|:/()\[\]\"]*[^\x00-\x7f\s][^\s,;|:/()\[\]\"]*")
_MOST_WORDS = 200
_FEW = 3
_LEAST_FITTING = 0.9


def encoding_note(pieces: Iterable[bytes], encoding: str) -> Problem | None:
    """How a text is read that is not UTF-8; ``None``: it is, or has no letters that could differ.

    Args:
        pieces: Of the file, the first one at its start.
        encoding: The one that was found.
    """
    if encoding not in _GUESSED:
        return None
    content = b"\n".join(piece.rpartition(b"\n")[0] or piece for piece in pieces)
    words = _words(content, encoding)
    if not words:
        return None
    is_odd = _fitting(words) < _LEAST_FITTING or 2 * sum(map(_is_foreign, words)) > len(words)
    others = sorted(_others(content), key=lambda each: -each[1]) if is_odd else []
    fixes = [
        Fix.of(f'Read it as {name}: "{_short(word)}"', "data.encoding", name)
        for name, _, word in others
    ]
    return Problem(
        code="table_encoding_guessed",
        severity=Severity.WARNING if is_odd else Severity.HINT,
        field="data.encoding",
        message="The text is not UTF-8, and nothing says its encoding: it is read as that of "
        f'Western Europe ({encoding}), as in "{_short(words[0])}".',
        hint="Nothing, if that is right; else choose data.encoding, or save the file as UTF-8.",
        fix=fixes[0] if fixes else None,
        alternatives=(*fixes[1:], Fix.of("It is right", "data.encoding", encoding)),
    )


def _others(content: bytes) -> Iterable[tuple[str, float, str]]:
    """Encodings in which all of the text is words, how well they fit, and one of the words."""
    for name in _OTHERS:
        try:
            words = _words(content, name)
        except UnicodeDecodeError:
            continue
        fitting = sum(map(_is_plain, words)) / max(1, len(words))
        if fitting >= _LEAST_FITTING:
            yield name, fitting, words[0]


def _words(content: bytes, encoding: str) -> list[str]:
    """Some words with letters that are not English."""
    found = _WORD.finditer(content.decode(encoding))
    return [match[0] for match, _ in zip(found, range(_MOST_WORDS), strict=False)]


def _fitting(words: Iterable[str]) -> float:
    """The part of the words that have nothing but letters, digits and signs at their ends."""
    are_words = [_is_word(word) for word in words]
    return sum(are_words) / len(are_words)


def _is_word(word: str) -> bool:
    kinds = "".join(unicodedata.category(each)[0] for each in word)
    inside = kinds.strip("NPS")  # a sign or two may stand before, behind or alone
    return len(kinds) < _FEW if not inside else not set(inside) - set("LMNP")


def _is_plain(word: str) -> bool:
    """Whether it has letters alone, in a case that words have, and none of half a width."""
    inside = word.strip("'\"!?.-")
    has_case = inside.lower() != inside.upper()
    is_cased = inside in (inside.lower(), inside.upper(), inside.capitalize())
    is_half = any(unicodedata.east_asian_width(each) == "H" for each in inside)
    return _is_word(word) and inside.isalnum() and (is_cased or not has_case) and not is_half


def _is_foreign(word: str) -> bool:
    """Whether it has several letters and none is English, unlike words of Western Europe."""
    letters = [each for each in word if each.isalpha()]
    return len(letters) >= _FEW and not any(each.isascii() for each in letters)


def _short(word: str) -> str:
    return visible_line(word[:40])
