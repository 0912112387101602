"""Columns that alone determine the target: most often they are known only after it."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.table_data import TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.table_examples import TableExamples

_MOST_ROWS = 50_000
"""So many from all over the table are compared."""
_FEWEST = 20
_CHANCE = 1e-9
"""A column that fits the target so rarely by chance determines it."""
_MOST_COLUMNS = 500
_FEWEST_RANKED = 50
_SAME_ORDER = 0.999
"""Of ranks: what is measured with noise, or beside it, correlates less."""

Floats = npt.NDArray[np.float32]


def leaks(
    data: TableData, found: TableExamples, labels: npt.NDArray[np.generic], target: Target
) -> Iterator[Problem]:
    """A warning for each column that determines the class or the value of every row.

    Args:
        data: What was chosen.
        found: The examples.
        labels: Of all of them, one number each; of others nothing is said.
        target: What they are.

    Raises:
        ProblemError: The rows cannot be read.
    """
    if labels.ndim != 1 or target is Target.LABELS or len(found.features) < 2:
        return
    rows = found.rows()
    chosen = np.arange(found.table.rows, dtype=np.int32) if rows is None else rows
    some = np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), _MOST_ROWS)).astype(np.int64))
    if len(some) < _FEWEST:
        return
    raw, wanted = found.table.read(chosen[some]), labels[some]
    for feature in found.features[:_MOST_COLUMNS]:
        place = found.table.column(feature.name)
        assert place is not None, "the features were found in this table"
        values, column = raw[:, place], found.table.columns[place]
        if determines(values, wanted, column, target):
            yield _warning(data, feature.name, _determines(target))
        elif target is Target.VALUES and column.kind != "category" and follows(values, wanted):
            what = "rises and falls with the value of nearly every row, as a rounded one does"
            yield _warning(data, feature.name, what)


def determines(
    values: Floats, labels: npt.NDArray[np.generic], column: ColumnFacts, target: Target
) -> bool:
    """Whether the values of a column determine the labels of all rows, and not by chance."""
    if target is Target.VALUES:
        return column.kind != "category" and _is_monotonous(values, labels.astype(np.float64))
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2:
        return False
    same = float(((counts / len(labels)) ** 2).sum())
    if column.kind == "category":
        # A cell that holds nothing is a value, too.
        _, codes = np.unique(np.nan_to_num(values, nan=-1.0), return_inverse=True)
        pairs = np.unique(np.stack([codes.reshape(-1), labels.astype(np.int64)]), axis=1)
        groups = int(codes.max()) + 1
        is_function = pairs.shape[1] == groups
        # Each row beyond the first of a value agrees with that by chance so often.
        return is_function and same ** (len(labels) - groups) < _CHANCE
    order = np.argsort(values, kind="stable")  # NaN last
    runs = _runs(values[order], labels[order])
    # Intervals of numbers, one or more of each class: few where the number determines the class.
    return 0 < runs <= len(counts) + 1 and same ** (len(labels) - runs) < _CHANCE


def follows(values: Floats, labels: npt.NDArray[np.generic]) -> bool:
    """Whether values are in the order of the labels, but for some that are alike or off."""
    held = ~np.isnan(values)
    if held.sum() < max(_FEWEST_RANKED, 0.9 * len(held)):
        return False
    ranks = [_ranks(each[held]) for each in (values, labels.astype(np.float64))]
    if any(len(np.unique(each)) < _FEWEST for each in ranks):
        return False
    together = np.asarray(np.corrcoef(ranks), np.float64)
    return bool(abs(together[0, 1]) > _SAME_ORDER)


def _ranks(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The place of each in their order, of equal ones the mean."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ranks[where.reshape(-1)], np.float64)


def _runs(values: Floats, labels: npt.NDArray[np.generic]) -> int:
    """Intervals of ordered values with one label each; 0: equal values have several labels."""
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    before, behind = values[changes], values[changes + 1]
    is_split = (before == behind) | (np.isnan(before) & np.isnan(behind))
    return 0 if is_split.any() else len(changes) + 1


def _is_monotonous(values: Floats, labels: npt.NDArray[np.float64]) -> bool:
    held = ~np.isnan(values)
    values, labels = values[held], labels[held]
    if len(values) < _FEWEST or len(values) < 0.9 * len(held):
        return False
    order = np.argsort(values, kind="stable")
    values, labels = values[order], labels[order]
    different = len(np.unique(values))
    if min(different, len(np.unique(labels))) < _FEWEST:
        return False
    steps, gaps = np.diff(labels), np.diff(values)
    if (steps[gaps == 0] != 0).any():
        return False  # equal values have several labels
    steps = steps[gaps > 0]
    return bool((steps > 0).all() or (steps < 0).all())


def _determines(target: Target) -> str:
    return f"alone determines the {'class' if target is Target.CLASSES else 'value'} of every row"


def _warning(data: TableData, name: str, what: str) -> Problem:
    shown = visible_line(name)
    return Problem(
        code="table_column_is_target",
        severity=Severity.WARNING,
        field="data.ignore",
        message=f'Column "{shown}" {what}: the model will learn nothing else.',
        hint="Leave it out if it is not known before what is predicted, such as a code, a date or "
        "an amount that follows from it (a leak).",
        fix=Fix.of(f'Leave "{shown}" out', "data.ignore", [*data.ignore, name]),
    )
