"""The cells of examples as a person reads them: not scaled, and not filled in."""

import math

import numpy as np

from gpupanel.domain.shown_examples import LONGEST_CELL, MOST_CELLS, ShownCell
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.trainer.datasets.example_columns import ExampleColumn, ExampleColumns
from gpupanel.trainer.datasets.examples import Indices

_EXACT = 2.0**24
"""Whole numbers are kept exactly up to this; of larger ones the last digits may be others."""
_SMALL, _LARGE = 1e-4, 1e9
"""Numbers between these are written without an exponent."""


def shown_cells(columns: ExampleColumns, places: Indices) -> list[tuple[ShownCell, ...]]:
    """What stands in the columns, without those that are predicted.

    Args:
        columns: Of the source.
        places: Of the examples in it.

    Raises:
        ProblemError: They cannot be read.
    """
    shown = [at for at, each in enumerate(columns.columns) if not each.is_target][:MOST_CELLS]
    cells = columns.read(places)
    return [
        tuple(
            ShownCell(
                column=_shortened(columns.columns[at].name),
                text=_shortened(cell_text(float(row[at]), columns.columns[at])),
            )
            for at in shown
        )
        for row in cells
    ]


def cell_text(value: float, column: ExampleColumn) -> str:
    """A cell as it stands in the file; empty: it holds nothing.

    Args:
        value: A number, the number of a category, or a day counted from the column's first one.
        column: Where it stands.
    """
    if math.isnan(value):
        return ""
    if column.categories is not None:
        return column.categories[round(value)]
    if column.first_day is not None:
        return str(np.datetime64(round(value + column.first_day), "D"))
    about = "\N{ALMOST EQUAL TO} " if abs(value) >= _EXACT else ""
    number = np.float32(value)
    if value == 0.0 or _SMALL <= abs(value) < _LARGE:
        return about + np.format_float_positional(number, trim="-")
    return about + np.format_float_scientific(number, trim="-")


def _shortened(text: str) -> str:
    text = visible_line(as_utf8(text))
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
