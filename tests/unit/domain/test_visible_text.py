"""What would act on a terminal is seen instead."""

import json

import pytest

from gpupanel.domain.visible_text import (
    visible_beginning,
    visible_json,
    visible_line,
    visible_lines,
)

DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MARK = "\u0301"
HOSTILE = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0)))) + DIRECTION + "\u2028\u2029\ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;ZXZpbA==\x07", r"\x1b]52;c;ZXZpbA==\x07"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
        ("one\ntwo\r\tthree", r"one\ntwo\r\tthree"),
        ("fdp.\u202etxt.exe", r"fdp.\u202etxt.exe"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        # A byte of a path that is no UTF-8, and half a character of a JSON file.
        (b"caf\xe9".decode("utf-8", "surrogateescape"), r"caf\xe9"),
        ("\ud83d", r"\ud83d"),
        # Other people's writing, and what is used in it, stays as it is.
        ("naïve Zoë — 日本語 עברית العربية", "naïve Zoë — 日本語 עברית العربية"),
        ("👩\u200d🔬 क\u200dष", "👩\u200d🔬 क\u200dष"),
        # Names that look alike, and a name that nobody sees.
        ("cat\u00ad\ufeff", r"cat\xad\ufeff"),
        ("\u3164\u2060", r"\u3164\u2060"),
        # Two accents upon a letter, and forty that would paint over the lines above it.
        ("tie\u0302\u0301ng", "tie\u0302\u0301ng"),
        (f"a{MARK * 6}b", f"a{MARK * 4}\\u0301\\u0301b"),
        (r"C:\x1b [red] :smile:", r"C:\x1b [red] :smile:"),
    ],
)
def test_that_a_line_shows_what_is_in_it(text: str, shown: str) -> None:
    assert visible_line(text) == shown
    assert visible_line(shown) == shown
    shown.encode()


def test_that_nothing_that_acts_is_left() -> None:
    assert visible_line(HOSTILE).isprintable()
    assert set(visible_lines(HOSTILE)) - set(visible_line(HOSTILE)) == {"\n", "\t"}
    assert visible_lines("one\n\ttwo\r\n\x1b[2J") == "one\n\ttwo\\r\n\\x1b[2J"


def test_that_a_document_says_the_same_in_plain_characters() -> None:
    document = json.dumps({HOSTILE: [HOSTILE, "é"]}, indent=2, ensure_ascii=False)

    shown = visible_json(document)

    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown) == {HOSTILE: [HOSTILE, "é"]}
    assert "é" in shown
    shown.encode()


def test_that_a_sentence_has_the_beginning_of_a_long_text() -> None:
    assert visible_beginning("a\x1bb") == "a\\x1bb"
    assert visible_beginning("x" * 60) == "x" * 60
    assert visible_beginning("x" * 400) == "x" * 57 + "..."
