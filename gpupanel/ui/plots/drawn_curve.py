"""A curve as pyqtgraph draws it."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor

from gpupanel.ui.plots.axis_scale import SAME_SCALE, AxisScale
from gpupanel.ui.plots.curve import Best, Curve
from gpupanel.ui.plots.sample_buffer import Floats

_DOT_SIZE, _RING_SIZE = 7.0, 15.0
_POINT_PIXELS = 6.0
"""How long a curve is that has a single point."""
_CALM = 20.0
"""How often a line that may be wide goes through its whole range, up and down."""
_FAINT = 0.3
"""How much of its colour a backdrop keeps."""


class DrawnCurve:
    """Draws a buffer, decimated to the pixels of the plot, and only when something changed.

    Args:
        curve: What is drawn.
        line_width: In pixels. It is one for a backdrop, and for a line that goes up and down all
            the time: a wider one takes seconds to draw there.
    """

    def __init__(self, curve: Curve, line_width: float = 1.0) -> None:
        self._curve = curve
        self._wide = 1.0 if curve.is_backdrop else line_width
        self._is_restless = self._is_hidden = False
        self._drawn: tuple[object, ...] | None = None
        self._values: Floats = np.empty(0)
        self._bounds: tuple[float, float] | None = None
        self._line = pg.PlotCurveItem(antialias=True)
        self._dots = pg.ScatterPlotItem(size=_DOT_SIZE) if curve.has_dots else None
        self._ring = pg.ScatterPlotItem(size=_RING_SIZE) if curve.best is not None else None
        self._best: tuple[float, float] | None = None
        self._has_log_ring = False
        if curve.is_backdrop:
            self._line.setZValue(-1)
        if curve.band is not None:
            # Each is filled down to zero, and those below it are painted over it.
            self._line.setFillLevel(0.0)
            self._line.setZValue(-curve.band)
        self.recolor()

    @property
    def items(self) -> tuple[pg.GraphicsObject, ...]:
        """What has to be put into the plot."""
        return tuple(item for item in (self._line, self._dots, self._ring) if item is not None)

    @property
    def label(self) -> str:
        """The curve's label."""
        return self._curve.label

    @property
    def is_hidden(self) -> bool:
        """Whether it is not drawn."""
        return self._is_hidden

    @property
    def is_backdrop(self) -> bool:
        """Whether it is behind the others."""
        return self._curve.is_backdrop

    @property
    def has_dots(self) -> bool:
        """Whether there is a dot on each point."""
        return self._dots is not None

    @property
    def dashes(self) -> tuple[float, ...]:
        """Lengths of dashes and gaps, in pixels."""
        return self._curve.dashes

    def color(self) -> QColor:
        """The colour in the theme that is shown now."""
        color = self._curve.color()
        if self._curve.is_backdrop:
            color.setAlphaF(_FAINT)
        return color

    def points(self) -> tuple[Floats, Floats]:
        """Places and values of the line as it is drawn."""
        places, values = self._line.getData()
        return (np.empty(0), np.empty(0)) if places is None else (places, values)

    @property
    def may_have_ring(self) -> bool:
        """Whether its best point gets one, once there is a best one."""
        return self._ring is not None

    def ring_points(self) -> tuple[Floats, Floats]:
        """Place and height of the ring, if there is one."""
        if self._ring is None:
            return np.empty(0), np.empty(0)
        places, heights = self._ring.getData()
        return places, heights

    @property
    def best(self) -> tuple[float, float] | None:
        """Place and value of the best point; ``None`` where none is marked."""
        return self._best

    def setHidden(self, is_hidden: bool) -> None:
        """Whether it is not drawn."""
        self._is_hidden = is_hidden
        for item in self.items:
            item.setVisible(not is_hidden)

    def recolor(self) -> None:
        """Take the colours of the theme that is shown now."""
        color = self.color()
        # A line of one pixel has a fast path in Qt's painter; a wider one costs a hundredfold.
        width = 1.0 if self._is_restless else self._wide
        self._line.setPen(pg.mkPen(color, width=width, dash=self._curve.dashes or None))
        if self._curve.band is not None:
            self._line.setBrush(pg.mkBrush(color))
        if self._dots is not None:
            self._dots.setBrush(pg.mkBrush(color))
            self._dots.setPen(pg.mkPen(None))
        if self._ring is not None:
            self._ring.setBrush(pg.mkBrush(None))
            self._ring.setPen(pg.mkPen(color, width=2))

    def redraw(
        self,
        start_s: float,
        end_s: float,
        pixels: int,
        scale: AxisScale = SAME_SCALE,
        *,
        is_log: bool = False,
    ) -> None:
        """Bring what is drawn up to date.

        Args:
            start_s: Left edge, as the axis counts.
            end_s: Right edge.
            pixels: Between the two.
            scale: Where on the axis the points are.
            is_log: Values stand at their logarithms to base 10, if they have one.
        """
        buffer = self._curve.buffer
        wanted = (buffer.revision, start_s, end_s, pixels, scale, scale.revision, is_log)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        times, self._values = envelope(buffer.times, buffer.values, start_s, end_s, pixels, scale)
        if is_log:
            self._values = logarithms(self._values)
        self._bounds = shown_bounds(times, self._values, start_s, end_s)
        if self._wide > 1.0 and _is_restless(self._values) is not self._is_restless:
            self._is_restless = not self._is_restless
            self.recolor()
        if self._dots is None and self._values.size == 1:
            # A line of one point is none: a short one is drawn instead.
            half = _POINT_PIXELS / 2.0 * (end_s - start_s) / max(1, pixels)
            times, self._values = times + np.array([-half, half]), np.repeat(self._values, 2)
        whole = bool(np.isfinite(self._values).all())
        self._line.setData(
            times,
            self._values,
            connect="all" if whole else "finite",
            skipFiniteCheck=whole,
            # Upright lines side by side look the same without it and are drawn in half the time.
            antialias=times.size <= pixels,
        )
        if self._dots is not None:
            # Side by side they would be a band as wide as they are, and hide the line.
            is_crowded = times.size * _DOT_SIZE > pixels
            empty = np.empty(0)
            self._dots.setData(*((empty, empty) if is_crowded else (times, self._values)))
        if self._ring is not None:
            self._mark_best(self._ring, scale, is_log=is_log)

    def _mark_best(self, ring: pg.ScatterPlotItem, scale: AxisScale, *, is_log: bool) -> None:
        """Put the ring around the best point, of all that there are."""
        times, values = self._curve.buffer.times, self._curve.buffer.values
        known = np.isfinite(values)
        hidden = scale.hidden(times)
        if hidden is not None:
            known &= ~hidden
        before, self._best = self._best, None
        if known.sum() > 1:
            sign = 1.0 if self._curve.best is Best.LEAST else -1.0
            place = int(np.where(known, sign * values, np.inf).argmin())
            position = float(scale.positions(times[place : place + 1])[0])
            self._best = position, float(values[place])
        if (self._best, is_log) == (before, self._has_log_ring):
            return  # a scatter plot of one point takes as long as a line of many
        self._has_log_ring = is_log
        seen = [] if self._best is None else [self._best]
        positions = np.array([position for position, _ in seen])
        heights = np.array([value for _, value in seen])
        ring.setData(positions, logarithms(heights) if is_log else heights)

    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest value between the edges; ``None`` where there is nothing."""
        return None if self._is_hidden else self._bounds


def _is_restless(values: "Floats") -> bool:
    known = values[np.isfinite(values)]
    return known.size > 1 and float(np.abs(np.diff(known)).sum()) > _CALM * float(np.ptp(known))


def visible_slice(times: Floats, start_s: float, end_s: float) -> slice:
    """The points within a span of time, with one more at each side so that lines reach the edge."""
    first = int(np.searchsorted(times, start_s, side="left"))
    last = int(np.searchsorted(times, end_s, side="right"))
    return slice(max(0, first - 1), min(times.size, last + 1))


def shown_bounds(
    times: Floats, values: Floats, start_s: float, end_s: float
) -> tuple[float, float] | None:
    """The least and the greatest value of a line between two edges, where it crosses them included.

    Args:
        times: Ascending, one dimension; the line may begin and end beyond the edges.
        values: One for each time; not-a-number where the line has a gap.
        start_s: Left edge.
        end_s: Right edge.
    """
    first = int(np.searchsorted(times, start_s, side="left"))
    last = int(np.searchsorted(times, end_s, side="right"))
    crossed = [
        np.interp(edge, times[place - 1 : place + 1], values[place - 1 : place + 1])
        for edge, place in ((start_s, first), (end_s, last))
        if 0 < place < times.size
    ]
    seen = np.concatenate((values[first:last], crossed))
    known = seen[np.isfinite(seen)]
    return (float(known.min()), float(known.max())) if known.size else None


def logarithms(values: Floats) -> Floats:
    """Logarithms to base 10; not-a-number where there is none."""
    result = np.full(values.shape, np.nan)
    return np.log10(values, out=result, where=values > 0.0)


def envelope(
    times: Floats,
    values: Floats,
    start_s: float,
    end_s: float,
    pixels: int,
    scale: AxisScale = SAME_SCALE,
) -> tuple[Floats, Floats]:
    """The least and the greatest value of each pixel's column, in order.

    Args:
        times: Ascending, one dimension.
        values: One for each time; not-a-number where there is none.
        start_s: Left edge of what is shown, as the axis counts.
        end_s: Right edge of what is shown.
        pixels: Columns between the two edges.
        scale: Where on the axis the times are.

    Returns:
        Places on the axis and values to draw a line through; the points themselves where there are
        not more of them than two for each pixel.
    """
    pixels = max(1, pixels)
    # Columns stand still on the axis: what was decimated once comes out the same again.
    edges = scale.times_at(np.linspace(start_s, end_s, pixels + 1))
    window = visible_slice(times, float(edges[0]), float(edges[-1]))
    times, values = times[window], values[window]
    hidden = scale.hidden(times)
    if hidden is not None:
        times, values = times[~hidden], values[~hidden]
    if times.size <= 2 * pixels or end_s <= start_s:
        return scale.positions(times).copy(), values.copy()
    starts = np.searchsorted(times, edges[:-1], side="left")
    # The point before the left edge is a column of its own; empty columns are none.
    starts = np.concatenate(([0], starts[starts < times.size]))
    starts = starts[np.concatenate(([True], np.diff(starts) > 0))]
    # fmin and fmax pass over what is not a number unless nothing else is in the column.
    least = np.fmin.reduceat(values, starts)
    greatest = np.fmax.reduceat(values, starts)
    places = scale.positions(times[starts])
    return np.repeat(places, 2), np.stack((least, greatest), axis=1).ravel()
