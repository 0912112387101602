"""Labels of examples, made of cells in which people wrote what these are."""

import re
from collections.abc import Collection, Iterable, Sequence
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from gpupanel.domain.visible_text import as_utf8
from gpupanel.domain.written_numbers import (
    NumberForm,
    all_numbers,
    is_not_finite,
    number_in,
)
from gpupanel.domain.written_tags import tags_in

WHOLE_CELL = re.compile(r"[+-]?\d{1,1000}", re.ASCII)


def words_for_nothing(
    cells: Iterable[str], in_numbers: Collection[str], in_names: Collection[str]
) -> frozenset[str]:
    """What means in a column that there is no label.

    Args:
        cells: Of the column.
        in_numbers: Words that mean nothing where all others are numbers.
        in_names: Likewise where they are not.
    """
    held = {*cells} - {"", *in_numbers}
    are_numbers = bool(held) and all_numbers(held)
    return frozenset(("", *(in_numbers if are_numbers else in_names)))


def name_in_array(text: str | bytes) -> str:
    """The class that an element of an array of texts names."""
    found = text.decode(errors="surrogateescape") if isinstance(text, bytes) else text
    return normalize("NFC", as_utf8(found.strip()))


def class_names_in(cells: Iterable[str]) -> list[str]:
    """The class that each cell names.

    Two names that differ in their form of Unicode alone look alike, and are.
    """
    return [normalize("NFC", as_utf8(cell)) for cell in cells]


def ordered_classes(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once; whole numbers as they count, others as their letters follow each other."""
    different = set(names)
    are_whole = all(map(WHOLE_CELL.fullmatch, different))
    return tuple(sorted(different, key=lambda each: (int(each) if are_whole else 0, each)))


def numbers_of_classes(names: Iterable[str], known: Sequence[str]) -> list[int]:
    """Where each name stands among those that are known.

    Raises:
        KeyError: One of them is none of these; it is the argument.
    """
    places = {normalize("NFC", name): place for place, name in enumerate(known)}
    return [places[name] for name in names]


def tags_of_each(cells: Iterable[str], separator: str) -> list[tuple[str, ...]]:
    """The labels in each cell.

    Args:
        cells: Their texts.
        separator: As :func:`tag_separator` says it.
    """
    return [tags_in(name, separator) for name in class_names_in(cells)]


def rows_of_tags(tags: Iterable[Iterable[str]], names: Sequence[str]) -> npt.NDArray[np.float32]:
    """1 where an example has a label, else 0; shape [examples, labels].

    Args:
        tags: The labels of each example.
        names: All labels.

    Raises:
        KeyError: One of them is none of these; it is the argument.
    """
    places = {normalize("NFC", name): place for place, name in enumerate(names)}
    chosen = [[places[tag] for tag in each] for each in tags]
    rows = np.zeros((len(chosen), len(names)), np.float32)
    for row, found in zip(rows, chosen, strict=True):
        row[found] = 1
    return rows


def numbers_in_row(cells: Iterable[str], forms: Iterable[NumberForm]) -> list[float | None]:
    """The number in each cell, ``None`` where there is none that is finite.

    Args:
        cells: Of a row.
        forms: How the numbers of each column are written.
    """
    return [
        None if is_not_finite(cell) else number_in(cell, form)
        for cell, form in zip(cells, forms, strict=True)
    ]
