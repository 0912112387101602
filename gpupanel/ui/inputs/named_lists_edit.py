"""A list of texts for each of some names: ``user: age, city; item: price``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted

_TOKEN: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,:;"]+)|([,:;]))\s*')
_MARKS: Final = ",:;"


class NamedListsEdit(CheckedLine):
    """A table of lists by names; its value is a dictionary of tuples.

    What has a comma, a colon or a semicolon in it stands in quotation marks, which are doubled in
    it.
    """

    def __init__(
        self, *, placeholder: str, most_length: int, parent: QWidget | None = None
    ) -> None:
        """Makes the field.

        Args:
            placeholder: Shown while there are no names.
            most_length: How many names there may be.
            parent: The owner in Qt's sense.
        """
        super().__init__({}, parent)
        self._most_length = most_length
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Mapping[str, Sequence[str]]) -> None:
        """Shows a table silently."""
        super().setValue({name: tuple(texts) for name, texts in value.items()})

    @override
    def _read(self, text: str) -> dict[str, tuple[str, ...]]:
        read: dict[str, tuple[str, ...]] = {}
        for part in _divided([*_tokens(text)], ";"):
            if not part:
                continue
            name, *rest = _divided(part, ":")
            texts = _divided(rest[0], ",") if len(rest) == 1 else []
            if len(name) != 1 or not texts or any(len(each) != 1 for each in texts):
                raise ValueError("Write a name with its columns: NAME: one, another; NEXT: third.")
            if name[0][0] in read:
                raise ValueError(f"{quoted(name[0][0])} is named twice.")
            read[name[0][0]] = tuple(each[0][0] for each in texts)
        if len(read) > self._most_length:
            raise ValueError(f"There may be {self._most_length:,} names at most.")
        return read

    @override
    def _text_of(self, value: Mapping[str, Sequence[str]]) -> str:
        return "; ".join(
            f"{_written(name)}: {', '.join(map(_written, texts))}" for name, texts in value.items()
        )


Token = tuple[str, bool]
"""A text, and whether it is a mark between texts."""


def _tokens(text: str) -> Iterator[Token]:
    """The texts and marks of a line.

    Raises:
        ValueError: A quotation mark is not closed, or stands within a text.
    """
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError("A quotation mark is not closed.")
        inside, plain, mark = found.groups()
        text_of = inside.replace('""', '"') if inside is not None else (plain or "").strip()
        yield (mark, True) if mark else (text_of, False)
        place = found.end()


def _divided(tokens: Sequence[Token], mark: str) -> list[list[Token]]:
    """The parts between such marks."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token == (mark, True):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _written(text: str) -> str:
    """A text as it is typed."""
    is_plain = text == text.strip() and text and not any(each in text for each in f'{_MARKS}"')
    return text if is_plain else '"{}"'.format(text.replace('"', '""'))
