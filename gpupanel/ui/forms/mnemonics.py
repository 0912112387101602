"""The letters by which the rows of a form are reached from the keyboard."""

from collections.abc import Iterable

_OF_COPY = "c"
"""The letter of the buttons that copy, which are on the screen beside the forms: a letter that two
have moves the focus and clicks nothing."""


def with_mnemonics(titles: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The titles, each with ``&`` before a letter that no other one has.

    The first letter of a word is preferred; a title whose letters are all taken goes without.

    Args:
        titles: What stands beside the inputs of one form, from top to bottom.
        taken: Letters that something else has.
    """
    used = {_OF_COPY, *(letter.lower() for letter in taken)}
    return [_with_mnemonic(title, used) for title in titles]


def _with_mnemonic(title: str, used: set[str]) -> str:
    begins = [place for place in range(len(title)) if place == 0 or title[place - 1] == " "]
    for place in (*begins, *range(len(title))):
        letter = title[place].lower()
        if letter.isalpha() and letter not in used:
            used.add(letter)
            return f"{title[:place]}&{title[place:]}"
    return title
