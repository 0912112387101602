"""Exponential smoothing of curves whose points are not equally far apart."""

import numpy as np

from gpupanel.ui.plots.sample_buffer import Floats

_FARTHEST = 300.0
"""Spans of smoothing within one block: the greatest weight, e to that, is far from overflow."""


def smoothed(positions: Floats, values: Floats, span: float) -> Floats:
    """The mean of each value and those before it; one that lies a span back counts 1/e as much.

    A point counts for the distance to the point before it, so that a curve does not depend on
    how often a run reported. There is no lag towards zero at the beginning: the weights are those
    of the points that there are.

    Args:
        positions: Ascending, above 0, one dimension: such as steps.
        values: One for each position, finite.
        span: In the unit of the positions; 0 leaves the values as they are.

    Returns:
        One smoothed value for each position.
    """
    if span <= 0.0 or values.size < 2:
        return values
    distances = np.diff(positions, prepend=0.0) / span
    # A value stands for all of its distance: this is the exact mean over it.
    weights = -np.expm1(-distances)
    result = np.empty_like(values)
    total = weight = 0.0
    start = 0
    reach = np.cumsum(distances)
    while start < values.size:
        base = reach[start]
        end = int(np.searchsorted(reach, base + _FARTHEST, side="right"))
        growth = np.exp(reach[start:end] - base)
        # What came before this block has faded by the distance to its first point.
        faded = np.exp(-distances[start])
        totals = total * faded + np.cumsum(growth * weights[start:end] * values[start:end])
        all_weights = weight * faded + np.cumsum(growth * weights[start:end])
        result[start:end] = totals / all_weights
        total, weight = totals[-1] / growth[-1], all_weights[-1] / growth[-1]
        start = end
    return result
