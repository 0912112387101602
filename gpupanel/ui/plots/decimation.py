"""As many points as pixels can show, and no peak lost."""

import numpy as np

from gpupanel.ui.plots.sample_buffer import Floats


def visible_slice(times: Floats, start_s: float, end_s: float) -> slice:
    """The points within a span of time, with one more at each side so that lines reach the edge."""
    first = int(np.searchsorted(times, start_s, side="left"))
    last = int(np.searchsorted(times, end_s, side="right"))
    return slice(max(0, first - 1), min(times.size, last + 1))


def envelope(
    times: Floats, values: Floats, start_s: float, end_s: float, pixels: int
) -> tuple[Floats, Floats]:
    """The least and the greatest value of each pixel's column, in order.

    Args:
        times: Ascending, one dimension.
        values: One for each time; not-a-number where there is none.
        start_s: Left edge of what is shown.
        end_s: Right edge of what is shown.
        pixels: Columns between the two edges.

    Returns:
        Times and values to draw a line through; the points themselves where there are not more
        of them than two for each pixel.
    """
    window = visible_slice(times, start_s, end_s)
    times, values = times[window], values[window]
    pixels = max(1, pixels)
    if times.size <= 2 * pixels or end_s <= start_s:
        return times.copy(), values.copy()
    # Columns stand still on the time axis: what was decimated once comes out the same again.
    edges = np.linspace(start_s, end_s, pixels, endpoint=False)
    starts = np.searchsorted(times, edges, side="left")
    # The point before the left edge is a column of its own; empty columns are none.
    starts = np.concatenate(([0], starts[starts < times.size]))
    starts = starts[np.concatenate(([True], np.diff(starts) > 0))]
    # fmin and fmax pass over what is not a number unless nothing else is in the column.
    least = np.fmin.reduceat(values, starts)
    greatest = np.fmax.reduceat(values, starts)
    return np.repeat(times[starts], 2), np.stack((least, greatest), axis=1).ravel()
