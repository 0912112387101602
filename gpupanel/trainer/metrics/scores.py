"""Calculates metrics from sums over the examples of a set."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.domain.outcome import Metrics

Sums = npt.NDArray[np.float64]

TOP: Final = 5
"""The k of top-k accuracy."""


def macro_f1(right: Sums, predicted: Sums, examples: Sums) -> float | None:
    """The mean F1 of the classes or labels that occur, in labels or predictions.

    That is scikit-learn's ``f1_score(average="macro")``.

    Args:
        right: Of each, how many examples of it were taken for it.
        predicted: How many were taken for it.
        examples: How many are of it.
    """
    both = predicted + examples
    occurs = both > 0
    return float(np.mean(2.0 * right[occurs] / both[occurs])) if occurs.any() else None


def mean_r2(sums: Sums, examples: int) -> float | None:
    """The mean coefficient of determination of the values that differ between examples.

    Args:
        sums: Of squared errors, of labels and of their squares, shape [3, values]. Labels may be
            measured from anywhere near them, which loses no digits.
        examples: How many there are.
    """
    errors, totals, squares = sums
    variances = squares - totals**2 / examples
    known = variances > 1e-9 * np.maximum(squares, 1e-30)
    return float(np.mean(1.0 - errors[known] / variances[known])) if known.any() else None


def with_set_metrics(measured: Metrics, metrics: Iterable[Mapping[str, float | None]]) -> Metrics:
    """Loss and what is measured with it, and all other metrics of the same set.

    Args:
        measured: Of values the loss is the mean squared error, in their units.
        metrics: By their keys.
    """
    found: dict[str, float | None] = {}
    for metric in metrics:
        found |= metric
    if measured.mean_absolute_error is not None and measured.loss is not None:
        found["root_mean_squared_error"] = math.sqrt(measured.loss)
    return measured.model_copy(update=found)
