"""Metrics of a whole set, from sums over its examples: F1, R², and the area under the ROC curve."""

import numpy as np
import numpy.typing as npt

Sums = npt.NDArray[np.float64]

TOP = 5
"""An example whose class is one of so many most probable ones counts for the top-5 accuracy."""


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


def mean_area(has: Sums, has_not: Sums) -> float | None:
    """The mean area under the ROC curve; two examples in the same bin count half.

    Args:
        has: How many examples that have each label are in each bin, shape [labels, bins].
        has_not: How many that do not have it are in each bin, shape [labels, bins].
    """
    below = np.cumsum(has_not, axis=1) - has_not
    pairs = (has * (below + 0.5 * has_not)).sum(axis=1)
    every = has.sum(axis=1) * has_not.sum(axis=1)
    known = every > 0
    return float(np.mean(pairs[known] / every[known])) if known.any() else None


def area_of(scores: npt.NDArray[np.floating], has: npt.NDArray[np.bool_]) -> float | None:
    """The mean area under the ROC curve by exact ranks, that of scikit-learn's ``roc_auc_score``.

    Labels that all examples have, or none, have none.

    Args:
        scores: Greater ones are more probable, shape [examples, labels].
        has: Which examples have which label, likewise.
    """
    areas = []
    for of_label, which in zip(scores.T, has.T, strict=True):
        different, bins = np.unique(of_label, return_inverse=True)
        counts = (np.bincount(bins[each], minlength=len(different)) for each in (which, ~which))
        areas.append(mean_area(*(each[np.newaxis].astype(np.float64) for each in counts)))
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None
