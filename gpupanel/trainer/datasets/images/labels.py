"""What a CSV says of images, as it is trained on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES, Target
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.csv_lines import (
    FIELD,
    ImageLines,
    problem_of,
    problem_of_line,
)
from gpupanel.trainer.datasets.labels import checked_labels

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,1000}", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class ImageLabels:
    """What the images are.

    Attributes:
        array: As :class:`~gpupanel.trainer.datasets.examples.Examples` has labels.
        target: What they are.
        names: Of the classes or labels; empty where values are predicted.
        columns: How many columns of a CSV say it.
    """

    array: Array
    target: Target
    names: tuple[str, ...]
    columns: int = 0


def labels_of(
    lines: ImageLines,
    predicts: Target | None,
    training: ImageLabels | None = None,
    *,
    must_differ: bool = True,
) -> ImageLabels:
    """What the lines say, as it is trained on.

    One column of text or whole numbers holds classes; numbers in it that are not whole are values.
    Of several columns, see :func:`~gpupanel.trainer.datasets.labels.found_target`.

    Args:
        lines: At least one.
        predicts: What the labels are; ``None``: found.
        training: The labels of the training images, for those of another set.
        must_differ: Refuse images that are all of one class.

    Raises:
        ProblemError: They are no labels of that kind, or none of those classes.
    """
    columns = len(lines.columns)
    if training is not None and columns != training.columns:
        raise problem_of(
            "data_csv_columns_differ",
            f"{lines.path} has {columns:,} columns of labels, and that of the training images "
            f"{training.columns:,}.",
            "Give each set the same columns.",
        )
    if training is not None:
        predicts = training.target
    if columns == 1 and predicts in (Target.CLASSES, None):
        cells = [row[0] for row in lines.cells]
        if predicts or not _are_values(cells):
            names = None if training is None else training.names
            return _classes(lines, cells, names, must_differ=must_differ)
    name = _Column(str(lines.path), ", ".join(lines.columns[:5]), FIELD)
    found = checked_labels(_matrix(lines), name, predicts, must_differ=must_differ)
    titles = () if found.target is Target.VALUES else lines.columns
    return ImageLabels(found.array, found.target, titles, columns)


class _Column(ArrayName):
    @override
    def __str__(self) -> str:
        return f'Column "{self.name}" of {self.source}'


def _are_values(cells: Sequence[str]) -> bool:
    are_numbers = all(_NUMBER.fullmatch(cell) for cell in cells)
    return are_numbers and not all(_WHOLE.fullmatch(cell) for cell in cells)


def _classes(
    lines: ImageLines,
    cells: Sequence[str],
    names: tuple[str, ...] | None,
    *,
    must_differ: bool,
) -> ImageLabels:
    empty = next((n for n, cell in zip(lines.numbers, cells, strict=True) if not cell), None)
    if empty is not None:
        raise problem_of_line(lines.path, empty, "has no label")
    # Two names that differ in their form of Unicode alone look alike, and are.
    texts = [normalize("NFC", as_utf8(cell)) for cell in cells]
    if names is None:
        different = set(texts)
        are_whole = all(map(_WHOLE.fullmatch, different))
        names = tuple(
            sorted(different, key=lambda each: (int(each), each) if are_whole else (0, each))
        )
    if len(names) > MOST_CLASSES:
        raise problem_of(
            "data_too_many_classes",
            f"{lines.path} names {len(names):,} classes, and {MOST_CLASSES:,} can be distinguished "
            "at most.",
            "Choose a CSV whose second column is the class; or predict values.",
        )
    numbers = {normalize("NFC", name): number for number, name in enumerate(names)}
    for line, text in zip(lines.numbers, texts, strict=True):
        if text not in numbers:
            raise problem_of_line(
                lines.path, line, f'says "{text}", which is not a class of the training images'
            )
    if must_differ and len(names) < 2:
        raise problem_of(
            "data_one_class",
            f'{lines.path} has one class only ("{names[0]}"), so there is nothing to distinguish.',
            "Use images of two classes or more.",
        )
    array = np.array([numbers[text] for text in texts], np.int32)
    return ImageLabels(array, Target.CLASSES, names, 1)


def _matrix(lines: ImageLines) -> Array:
    """The cells as numbers, shape [images, columns]."""
    for number, row in zip(lines.numbers, lines.cells, strict=True):
        odd = next((place for place, cell in enumerate(row) if not _NUMBER.fullmatch(cell)), None)
        if odd is not None:
            what = f'"{as_utf8(row[odd][:40])}"' if row[odd] else "nothing"
            raise problem_of_line(
                lines.path,
                number,
                f'has {what} in column "{lines.columns[odd]}", which is not a number',
            )
    return np.array([[float(cell) for cell in row] for row in lines.cells], np.float64)
