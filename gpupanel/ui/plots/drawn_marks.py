"""What happened to a run, at the edges of its curves: checkpoints, resumptions, findings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from gpupanel.ui import theme
from gpupanel.ui.plots.axis_scale import AxisScale
from gpupanel.ui.plots.curve import Marks
from gpupanel.ui.plots.drawn_curve import visible_slice

if TYPE_CHECKING:
    from gpupanel.ui.plots.curve import CurvePoints
    from gpupanel.ui.plots.sample_buffer import Floats

_SIZE, _APART, _NEAR = 8.0, 14.0, 6.0
"""Pixels: of a triangle; between two that are both drawn; to the pointer that means one."""


@dataclass(frozen=True, slots=True)
class _View:
    """What of the axes is shown, and on how many pixels."""

    start: float
    end: float
    low: float
    high: float
    width: float
    height: float


class DrawnMarks:
    """Triangles at the bottom for checkpoints, dashed lines where a run was resumed.

    Triangles at the top point to where something began to hold the training up.

    Args:
        marks: When.
    """

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._drawn: tuple[object, ...] | None = None
        self._checkpoints: Floats = np.empty(0)
        self._epochs: Floats = np.empty(0)
        self._resumptions: Floats = np.empty(0)
        self._findings: Floats = np.empty(0)
        self._titles: Floats = np.empty(0)
        self._apart = 0.0
        self._triangles = pg.ScatterPlotItem(size=_SIZE, symbol="t1")
        self._signs = pg.ScatterPlotItem(size=_SIZE, symbol="t")
        self._lines = pg.PlotCurveItem(connect="pairs")
        self._lines.setZValue(-2)
        self.recolor()

    @property
    def items(self) -> tuple[pg.GraphicsObject, ...]:
        """What has to be put into the plot."""
        return (self._triangles, self._lines, self._signs)

    def places(self) -> tuple["Floats", "Floats"]:
        """Where on the axis checkpoints are drawn, and where resumptions."""
        return self._checkpoints, self._resumptions

    def finding_places(self) -> "Floats":
        """Where on the axis findings are drawn."""
        return self._findings

    def recolor(self) -> None:
        """Take the colours of the theme that is shown now."""
        colors = theme.current()
        self._triangles.setBrush(pg.mkBrush(colors.color("good")))
        self._triangles.setPen(pg.mkPen(None))
        self._signs.setBrush(pg.mkBrush(colors.color("warning")))
        self._signs.setPen(pg.mkPen(None))
        pen = pg.mkPen(colors.color("strong_border"), width=1, style=Qt.PenStyle.DashLine)
        self._lines.setPen(pen)

    def redraw(
        self,
        times: tuple[float, float],
        values: tuple[float, float],
        size: tuple[float, float],
        scale: AxisScale,
    ) -> None:
        """Bring what is drawn up to date.

        Args:
            times: Edges of what is shown at the bottom.
            values: Edges of the values.
            size: Width and height of it, in pixels.
            scale: Where on the axis moments are.
        """
        checkpoints, resumptions = self._marks.checkpoints, self._marks.resumptions
        findings = self._marks.findings
        revisions = (checkpoints.revision, resumptions.revision, findings.revision)
        made_of = (*revisions, scale, scale.revision)
        wanted = (*made_of, times, values, size)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        view = _View(*times, *values, *(max(1.0, each) for each in size))
        self._apart = (view.end - view.start) / view.width
        self._checkpoints, self._epochs = self._places(checkpoints, view, scale)
        self._resumptions, _ = self._places(resumptions, view, scale)
        self._findings, self._titles = self._places(findings, view, scale)
        height = _SIZE * (view.high - view.low) / view.height
        self._signs.setData(self._findings, np.full(self._findings.shape, view.high - height))
        bottom = view.low + height
        self._triangles.setData(self._checkpoints, np.full(self._checkpoints.shape, bottom))
        count = self._resumptions.size
        self._lines.setData(
            np.repeat(self._resumptions, 2), np.tile(np.array([view.low, view.high]), count)
        )

    def mark_text_near(self, position: float) -> str:
        """What is marked there: "checkpoint of epoch 3"; empty: nothing."""
        words = []
        for place, epoch in zip(self._checkpoints.tolist(), self._epochs.tolist(), strict=True):
            if abs(place - position) <= _NEAR * self._apart:
                words.append(f"checkpoint of epoch {epoch:,.0f}")
        if (np.abs(self._resumptions - position) <= _NEAR * self._apart).any():
            words.append("resumed")
        for place, title in zip(self._findings.tolist(), self._titles.tolist(), strict=True):
            if abs(place - position) <= _NEAR * self._apart:
                words.append(self._marks.finding_titles[round(title)])
        return " · ".join(words[-2:])

    def _places(
        self, points: "CurvePoints", view: _View, scale: AxisScale
    ) -> tuple["Floats", "Floats"]:
        edges = scale.times_at(np.array([view.start, view.end]))
        window = visible_slice(points.times, float(edges[0]), float(edges[1]))
        times, values = points.times[window], points.values[window]
        hidden = scale.hidden(times)
        if hidden is not None:
            times, values = times[~hidden], values[~hidden]
        places = scale.positions(times)
        # Of those that would cover each other, or make a band of triangles, the last is drawn.
        columns = np.floor(places / (self._apart * _APART))
        is_last = np.append(np.diff(columns) > 0.0, True)[: places.size]
        is_seen = is_last & (places >= view.start) & (places <= view.end)
        return places[is_seen], values[is_seen]
