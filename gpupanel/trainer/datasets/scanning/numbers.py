"""Columns of numbers: their range, and values that lie far outside of what the others hold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.number_text import short_number
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.scan import ScannedColumn
from gpupanel.trainer.datasets.examples import Array, Indices

_SAMPLED = 4096
_FAR = 30.0
"""Times the distance between the quartiles: a slip of the pen, another unit, or a number that
stands for nothing (-999), seldom what was measured."""
_FEWEST = 20
"""The fewest numbers from which outliers are searched."""
_SHOWN = 5
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What is known of a column.

    Attributes:
        missing: Cells that hold no number.
        usual: What the middle half of them lies between.
        outside: How many lie far outside of that.
        outside_value: The first of these.
        outside_index: And its example.
    """

    missing: int
    least: float | None
    greatest: float | None
    mean: float | None
    usual: tuple[float, float]
    outside: int
    outside_value: float
    outside_index: int

    @property
    def is_constant(self) -> bool:
        """Whether all its numbers are the same."""
        return self.least is not None and self.least == self.greatest


class NumberScan:
    """Gathers facts of columns block by block.

    Args:
        sample: Some rows from all over, shape [rows, columns]; NaN where a cell holds nothing.
    """

    def __init__(self, sample: Array) -> None:
        values = sample.astype(np.float64)
        width = values.shape[1]
        self._first, self._third = np.full(width, np.nan), np.full(width, np.nan)
        for place in range(width):
            held = values[np.isfinite(values[:, place]), place]
            if len(held) >= _FEWEST:
                self._first[place], self._third[place] = np.percentile(held, (25.0, 75.0))
        distance = self._third - self._first
        # Where the middle half is one number, any other lies far outside.
        distance[distance <= 0.0] = np.nan
        self._low, self._high = self._first - _FAR * distance, self._third + _FAR * distance
        self._least, self._most = np.full(width, np.inf), np.full(width, -np.inf)
        self._sum, self._count = np.zeros(width), np.zeros(width, np.int64)
        self._rows = 0
        self._outside = np.zeros(width, np.int64)
        self._example = np.full(width, -1, np.int64)
        self._value = np.zeros(width)

    def take(self, block: Array, examples: Indices) -> None:
        """Further rows, and which examples they are."""
        values = block.astype(np.float64)
        held = np.isfinite(values)
        self._rows += len(values)
        self._count += held.sum(axis=0)
        self._sum += np.where(held, values, 0.0).sum(axis=0)
        self._least = np.minimum(self._least, np.where(held, values, np.inf).min(axis=0))
        self._most = np.maximum(self._most, np.where(held, values, -np.inf).max(axis=0))
        with np.errstate(invalid="ignore"):
            far = (values < self._low) | (values > self._high)
        for place in np.flatnonzero(far.any(axis=0)).tolist():
            self._outside[place] += int(far[:, place].sum())
            if self._example[place] < 0:
                row = int(np.argmax(far[:, place]))
                self._example[place], self._value[place] = examples[row], values[row, place]

    def facts(self) -> tuple[NumberFacts, ...]:
        """The statistics of each column."""
        return tuple(self._facts(place) for place in range(len(self._count)))

    def _facts(self, place: int) -> NumberFacts:
        count = int(self._count[place])
        return NumberFacts(
            missing=self._rows - count,
            least=float(self._least[place]) if count else None,
            greatest=float(self._most[place]) if count else None,
            mean=float(self._sum[place]) / count if count else None,
            usual=(float(self._first[place]), float(self._third[place])),
            outside=int(self._outside[place]),
            outside_value=float(self._value[place]),
            outside_index=int(self._example[place]),
        )


def scanned_column(name: str, facts: NumberFacts) -> ScannedColumn:
    """What a report says of a column of numbers."""
    return ScannedColumn(
        name=name,
        holds="number",
        least=facts.least,
        greatest=facts.greatest,
        mean=facts.mean,
        is_constant=facts.is_constant,
    )


def sampled_indices(count: int) -> Indices:
    """Examples from all over, in their order."""
    return np.unique(np.linspace(0, count - 1, min(count, _SAMPLED)).astype(np.int32))


def values_far_outside(
    columns: Iterable[tuple[str, NumberFacts]],
    name_of: Callable[[int], str],
    field: str = "data",
) -> tuple[Problem, ...]:
    """A hint for columns with values far outside of what the others hold.

    Args:
        columns: Each with its name.
        name_of: What an example is called.
        field: The setting that it is about.
    """
    odd = [(name, facts) for name, facts in columns if facts.outside]
    if not odd:
        return ()
    lines = [_line(name, facts, name_of) for name, facts in odd]
    more = f"; and {len(odd) - _SHOWN:,} more columns" if len(odd) > _SHOWN else ""
    return (
        Problem(
            code="scan_values_far_outside",
            severity=Severity.HINT,
            field=field,
            message=f"Outliers: some values lie far from all others: {_joined(lines)}{more}.",
            hint="A typing error, another unit, or a placeholder for a missing value looks like "
            "this; one such value shifts the mean and the scale of all others.",
            detail="\n".join(lines),
        ),
    )


def _line(name: str, facts: NumberFacts, name_of: Callable[[int], str]) -> str:
    low, high = facts.usual
    count = f" and {facts.outside - 1:,} more" if facts.outside > 1 else ""
    return (
        f"{name} holds {short_number(facts.outside_value)} in "
        f"{name_of(facts.outside_index)}{count}, where half of all lie between "
        f"{short_number(low)} and {short_number(high)}"
    )


def _joined(lines: Sequence[str]) -> str:
    return "; ".join(lines[:_SHOWN])
