"""For which values of a table's columns a model is best and worst."""

from typing import Final

from gpupanel.domain.number_text import count, number
from gpupanel.runs.following.column_slices import ColumnSlices, Slice, SlicedColumn
from gpupanel.runs.report.markup import Html, breakable, note, section, table
from gpupanel.runs.report.material import ReportMaterial

_MOST_ROWS: Final = 20
_LONGEST_NAME: Final = 40
_LEAST_PART: Final = 0.01
"""Of the examples: what fewer have is chance."""


def columns_section(material: ReportMaterial) -> Html:
    """A row for each column: its worst and its best value."""
    found = material.evaluated.slices
    if found is None:
        return Html()
    rows = [row for column in found.columns if (row := _row(found, column)) is not None]
    kind = "accuracy" if found.is_accuracy else "mean absolute error"
    words = (
        f"The worst and the best value of each column by {kind}; it is "
        f"{_measure(found, found.whole)} for all examples. Values of fewer than 1 % of the "
        "examples are left out."
    )
    if len(rows) > _MOST_ROWS:
        words += f" These are the first {_MOST_ROWS} of {len(rows):,} columns."
    heads = ("Column", "Worst value", "Best value", "Worst", "of examples", "Best", "of examples")
    return section("By column", note(words), table(heads, rows[:_MOST_ROWS], texts=3))


def _row(found: ColumnSlices, column: SlicedColumn) -> tuple[str, ...] | None:
    total = sum(each.examples for each in column.slices)
    shown = [each for each in column.slices if each.examples >= _LEAST_PART * total]
    if len(shown) < 2:
        return None
    ordered = sorted(shown, key=lambda each: each.measure, reverse=not found.is_accuracy)
    worst, best = ordered[0], ordered[-1]
    return (
        breakable(column.name, _LONGEST_NAME),
        breakable(worst.value, _LONGEST_NAME),
        breakable(best.value, _LONGEST_NAME),
        *_numbers(found, worst),
        *_numbers(found, best),
    )


def _numbers(found: ColumnSlices, each: Slice) -> tuple[str, str]:
    return _measure(found, each.measure), count(each.examples)


def _measure(found: ColumnSlices, value: float) -> str:
    return f"{value:.4f}" if found.is_accuracy else number(value)
