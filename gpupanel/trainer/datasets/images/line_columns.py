"""The columns of a CSV of labels, as an evaluation divides images by them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.example_columns import ExampleColumn
from gpupanel.trainer.datasets.images.csv_lines import ImageLines
from gpupanel.trainer.parts.cell_labels import words_for_nothing

Cells = Mapping[str, Sequence[str]]
"""Of each column what stands beside each image, in their order."""

_MOST_NAMES = 10_000
"""A column of more different texts divides nothing."""


def cells_of(lines: ImageLines, images: Iterable[int]) -> Cells:
    """What stands beside some images; without columns in which lines of one image differ.

    Args:
        lines: Of the CSV, with all its columns.
        images: The places of the images among those that were listed.
    """
    line_of: dict[int, int] = {}
    differing = set[int]()
    for line, image in enumerate(lines.images):
        before = lines.cells[line_of.setdefault(image, line)]
        if before != lines.cells[line]:
            both = zip(before, lines.cells[line], strict=True)
            differing |= {place for place, (one, other) in enumerate(both) if one != other}
    kept = [line_of[image] for image in images]
    return {
        name: [lines.cells[line][place] for line in kept]
        for place, name in enumerate(lines.columns)
        if place not in differing
    }


class LineColumns:
    """The columns that the CSVs of all sets have.

    Args:
        parts: Of the training images, then of further sets, in the order of the examples.
        decimal: What stands before decimals; ``None``: a point.
        chosen: Words that a person said mean that a cell is empty; ``None``: nobody did.
        targets: The columns that are predicted.
    """

    def __init__(
        self,
        parts: Sequence[Cells],
        decimal: str | None = None,
        chosen: Sequence[str] | None = None,
        targets: Collection[str] = (),
    ) -> None:
        words = empty_words(None if chosen is None else tuple(chosen))
        columns, found = list[ExampleColumn](), list[npt.NDArray[np.float32]]()
        for name in parts[0]:
            if not all(name in part for part in parts):
                continue
            cells = [cell for part in parts for cell in part[name]]
            empty = words_for_nothing(cells, words.in_numbers, words.in_names)
            texts = ["" if cell in empty else cell for cell in cells]
            numbers = _numbers(texts, decimal or ".")
            names = dict.fromkeys(texts) if numbers is None else {}
            if len(names) > _MOST_NAMES:
                continue
            names.pop("", None)
            places = {text: place for place, text in enumerate(names)}
            categories = None if numbers is not None else tuple(as_utf8(text) for text in names)
            columns.append(ExampleColumn(as_utf8(name), categories, is_target=name in targets))
            coded = np.array([places.get(text, math.nan) for text in texts], np.float32)
            found.append(coded if numbers is None else numbers)
        self._columns = tuple(columns)
        count = len(next(iter(parts[0].values()), ()))
        self._cells = np.stack(found, axis=1) if found else np.empty((count, 0), np.float32)

    @property
    def columns(self) -> tuple[ExampleColumn, ...]:
        """In the order of the first CSV."""
        return self._columns

    def read(self, indices: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """See :class:`~gpupanel.trainer.datasets.example_columns.ExampleColumns`."""
        return self._cells[indices]


def _numbers(texts: Sequence[str], decimal: str) -> npt.NDArray[np.float32] | None:
    """The numbers that stand there, NaN where a cell is empty; ``None``: not all are numbers."""
    try:
        found = [float(text.replace(decimal, ".")) if text else math.nan for text in texts]
    except ValueError:
        return None
    with np.errstate(over="ignore"):
        numbers = np.array(found, np.float32)
    return np.where(np.isfinite(numbers), numbers, np.float32(math.nan))
