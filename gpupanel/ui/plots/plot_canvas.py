"""The part of a plot that pyqtgraph paints."""

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.plots.axes import ValueAxis, bottom_axis
from gpupanel.ui.plots.axis_range import AxisKind, settled_range
from gpupanel.ui.plots.axis_scale import SAME_SCALE, AxisScale
from gpupanel.ui.plots.curve import Curve, Marks
from gpupanel.ui.plots.curve_box import CurveBox
from gpupanel.ui.plots.drawn_curve import DrawnCurve
from gpupanel.ui.plots.drawn_marks import DrawnMarks
from gpupanel.ui.plots.plot_surface import PlotSurface
from gpupanel.ui.plots.sample_buffer import Floats

_LEFT_AXIS_WIDTH = 52
_GREATEST = 1e300
"""Of values that are shown: a range and its margins stay numbers."""
_MARGIN = 0.08
"""Of the range of values, above and below it: labels at its ends need the room."""
_RING_ROOM = 9.0
"""Pixels of half a ring, which may be around a value at an end."""


class PlotCanvas(PlotSurface):
    """Curves over time. A dragged box and the wheel zoom, Shift and dragging move along the time.

    The range of values is fitted to what is shown unless a box chose it.

    Args:
        value_range: A range that never changes, or ``None`` to fit round numbers to the values.
        bounds: What a fitted range never leaves.
        empty_note: What stands in the plot while no curve has a point.
        line_width: Of the curves, in pixels: more than one is slow, and for pictures only.
    """

    timeRangeChosen = Signal(float, float)
    """A person moved or zoomed to that span of time."""
    timeRangeReset = Signal()
    """A person asked for the whole run again, by a double click."""
    pointed = Signal(object)
    """The time under the pointer, or ``None`` when the pointer left."""

    def __init__(
        self,
        value_range: tuple[float, float] | None,
        bounds: tuple[float, float],
        empty_note: str = "",
        parent: QWidget | None = None,
        *,
        line_width: float = 1.0,
        has_bottom_labels: bool = True,
    ) -> None:
        self._has_bottom_labels = has_bottom_labels
        box = CurveBox(has_free_values=value_range is None)
        values = ValueAxis("left")
        values.setBounds(*(value_range or bounds))
        super().__init__(bottom_axis(AxisKind.TIME), values, box, parent, has_columns=False)
        self._fixed, self._bounds = value_range, bounds
        self._shown: tuple[float, float] | None = None
        self._margin = _MARGIN
        self._fitted_times: tuple[float, float] | None = None
        self._has_chosen_values = False
        self._scale: AxisScale = SAME_SCALE
        self._is_log = False
        self._hidden: frozenset[str] = frozenset()
        self._level_y: float | None = None
        self._line_width = line_width
        self.curves: list[DrawnCurve] = []
        self._marks: DrawnMarks | None = None
        self._times = (0.0, 10.0)
        self._pointer = pg.InfiniteLine(angle=90, movable=False)
        self._pointer.hide()
        self._level = pg.InfiniteLine(angle=0, movable=False)
        self._level.hide()
        self._note = QLabel(empty_note)
        self._is_note_due = True
        self._dress()
        self._box.sigRangeChangedManually.connect(self._take_range)
        self._box.boxChosen.connect(self._take_box)
        self.setTimeRange(*self._times)
        self._show_values(value_range or (0.0, 1.0))

    @property
    def time_range(self) -> tuple[float, float]:
        """The span of time that is shown, in seconds since the start of the run."""
        return self._times

    @property
    def chosen_values(self) -> tuple[float, float] | None:
        """The range of values that a box chose; ``None``: it is fitted to what is shown."""
        return self.value_range if self._has_chosen_values else None

    def chooseValues(self, values: tuple[float, float]) -> None:
        """Show that range of values, whatever the curves do."""
        self._has_chosen_values = True
        self._box.setYRange(*values, padding=0)

    def setAxis(self, kind: AxisKind) -> None:
        """Label what is at the bottom so: as time as long as nobody asked for something else."""
        axis = bottom_axis(kind)
        self.getPlotItem().setAxisItems({"bottom": axis})
        # It hears of changes of the range alone; that of now may be the one that stays.
        axis.setRange(*self._box.viewRange()[0])
        self._box.setLimits(minXRange=kind.least_span)
        self._dress_axis("bottom")
        self.recolor()

    def setScale(self, scale: AxisScale) -> None:
        """Place points so; as they are counted as long as nobody asked for something else."""
        if scale is not self._scale:
            self._scale = scale
            self._shown = self._fitted_times = None

    def setLogarithmic(self, is_log: bool) -> None:
        """Whether values stand at their logarithms; those of 0 and less are not drawn then."""
        if is_log is not self._is_log:
            self._is_log = is_log
            self.getPlotItem().getAxis("left").setLogarithmic(is_log)
            self.fitValues()

    def setCurves(self, curves: tuple[Curve, ...]) -> None:
        """Draw these instead of what was drawn."""
        for drawn in self.curves:
            for item in drawn.items:
                self.removeItem(item)
        self.curves = [DrawnCurve(curve, self._line_width) for curve in curves]
        for drawn in self.curves:
            for item in drawn.items:
                self.addItem(item)
        self.setHiddenCurves(self._hidden)
        # Curves that have points are drawn in a moment: until then nothing is said of none.
        self._is_note_due = True
        self._note.setVisible(all(curve.buffer.last() is None for curve in curves))

    def setEmptyNote(self, words: str) -> None:
        """What stands in the plot while no curve has a point; empty: nothing."""
        self._note.setText(words)

    def setMarks(self, marks: Marks | None) -> None:
        """Mark these instead of what was marked."""
        for item in () if self._marks is None else self._marks.items:
            self.removeItem(item)
        self._marks = None if marks is None else DrawnMarks(marks)
        for item in () if self._marks is None else self._marks.items:
            self.addItem(item, ignoreBounds=True)

    def mark_text_near(self, position: float) -> str:
        """What is marked there, in words; empty: nothing."""
        return "" if self._marks is None else self._marks.mark_text_near(position)

    def bests(self) -> dict[str, tuple[float, float]]:
        """Place and value of the best point of the curves where it is marked, by their labels."""
        return {drawn.label: drawn.best for drawn in self.curves if drawn.best is not None}

    def setHiddenCurves(self, labels: frozenset[str]) -> None:
        """Draw the curves that are called so no longer; all others are drawn."""
        self._hidden = labels
        for drawn in self.curves:
            drawn.setHidden(drawn.label in labels)
        self._shown = self._fitted_times = None

    def setTimeRange(self, start_s: float, end_s: float) -> None:
        """Show that span of time."""
        self._times = (start_s, end_s)
        self._box.setXRange(start_s, end_s, padding=0)

    def setBounds(self, low: float, high: float) -> None:
        """Never leave that range when fitting one to the values."""
        self._bounds = (low, high)
        self.getPlotItem().getAxis("left").setBounds(low, high)
        self._shown = self._fitted_times = None

    def fitValues(self) -> None:
        """Fit the range of values to what is shown again, whatever a box chose."""
        self._has_chosen_values = False
        self._shown = self._fitted_times = None

    def setPointer(self, time_s: float | None) -> None:
        """Draw a line through that time, wherever the pointer is, and one through its value."""
        self._pointer.setVisible(time_s is not None)
        if time_s is not None:
            self._pointer.setPos(time_s)
        self._level.setVisible(time_s is not None and self._level_y is not None)
        if self._level_y is not None:
            self._level.setPos(self._level_y)

    def place_of(self, position: float) -> int:
        """Where that place on the axis at the bottom is, in pixels from the left edge."""
        scene = self._box.mapViewToScene(QPointF(position, 0.0))
        return int(self.mapFromScene(scene).x())

    def redraw(self, *, keep_axes: bool) -> None:
        """Bring the curves up to date, and the range of values.

        Args:
            keep_axes: The range of values stays, unless another part of the time is shown.
        """
        pixels = max(1, math.ceil(self._box.width()))
        for drawn in self.curves:
            drawn.redraw(*self._times, pixels, self._scale, is_log=self._is_log)
        if self._is_note_due or not self._note.isHidden():
            self._is_note_due = False
            self._note.setVisible(all(drawn.bounds() is None for drawn in self.curves))
        if self._fixed is None and not self._has_chosen_values:
            if not keep_axes:
                self._fit(self._shown)
            elif self._times != self._fitted_times:
                # A person looks closer: what fitted the part before is no measure for this one.
                self._fit(None)
            if self._shown is not None and not keep_axes and self._margin != self._wanted_margin():
                self._show_values(self._shown)
        if self._marks is not None:
            size = (self._box.width(), self._box.height())
            self._marks.redraw(self._times, self.value_range, size, self._scale)

    def drawn_curves(self) -> tuple[DrawnCurve, ...]:
        """The curves that are not hidden, from behind."""
        shown = (drawn for drawn in self.curves if not drawn.is_hidden)
        return tuple(sorted(shown, key=lambda drawn: not drawn.is_backdrop))

    def marked(self) -> tuple[Floats, Floats]:
        """Where checkpoints are marked, and where resumptions."""
        return (np.empty(0), np.empty(0)) if self._marks is None else self._marks.places()

    def marked_findings(self) -> Floats:
        """Where findings are marked."""
        return np.empty(0) if self._marks is None else self._marks.finding_places()

    @override
    def recolor(self) -> None:
        super().recolor()
        for line in (self._pointer, self._level):
            line.setPen(pg.mkPen(theme.current().color("strong_border"), width=1))
        for drawn in self.curves:
            drawn.recolor()
        if self._marks is not None:
            self._marks.recolor()

    @override
    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        super().mouseMoveEvent(ev)
        place = self._box.mapSceneToView(ev.position())
        self._level_y = float(place.y())
        self.pointed.emit(float(place.x()))

    @override
    def mouseDoubleClickEvent(self, ev: QMouseEvent) -> None:
        self.timeRangeReset.emit()
        ev.accept()

    @override
    def leaveEvent(self, ev: QEvent) -> None:
        super().leaveEvent(ev)
        self._level_y = None
        self.pointed.emit(None)

    def _dress(self) -> None:
        self._box.setLimits(xMin=0.0, minXRange=AxisKind.TIME.least_span)
        self._note.setProperty("tone", "muted")
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        over = QVBoxLayout(self)
        over.setContentsMargins(_LEFT_AXIS_WIDTH, 0, 0, 0)
        over.addWidget(self._note)
        self.addItem(self._pointer, ignoreBounds=True)
        self.addItem(self._level, ignoreBounds=True)
        self.recolor()

    @override
    def _dress_axis(self, side: str) -> None:
        super()._dress_axis(side)
        axis = self.getPlotItem().getAxis(side)
        if side == "left":
            axis.setWidth(_LEFT_AXIS_WIDTH)
        elif self._has_bottom_labels:
            axis.setHeight(20)
        else:
            axis.setStyle(showValues=False)
            axis.setHeight(theme.GRID)

    @Slot()
    def _take_range(self) -> None:
        if tuple(self._box.viewRange()[0]) != self._times:
            self._take_range_shown()

    @Slot(object, object)
    def _take_box(self, times: tuple[float, float], values: tuple[float, float] | None) -> None:
        if values is not None:
            self.chooseValues(values)
        self.setTimeRange(*times)
        self._take_range_shown()

    def _take_range_shown(self) -> None:
        """Take the part of the axis that is shown: the closest that can be is not that of a box."""
        start, end = self._box.viewRange()[0]
        self._times = (float(start), float(end))
        self.timeRangeChosen.emit(*self._times)

    def _fit(self, shown: tuple[float, float] | None) -> None:
        """Fit the range of values; the one that is shown stays as long as it will do."""
        self._fitted_times = self._times
        known = [bounds for drawn in self.curves if (bounds := drawn.bounds()) is not None]
        if not known:
            return
        lowest, highest = (-math.inf, math.inf) if self._is_log else self._bounds
        lowest, highest = max(lowest, -_GREATEST), min(highest, _GREATEST)
        least = max(lowest, min(low for low, _ in known))
        greatest = min(highest, max(high for _, high in known))
        wanted = settled_range(least, greatest, shown)
        wanted = (max(lowest, wanted[0]), min(highest, wanted[1]))
        if wanted != self._shown and wanted[1] > wanted[0]:
            self._shown = wanted
            self._show_values(wanted)

    def _show_values(self, shown: tuple[float, float]) -> None:
        self._margin = self._wanted_margin()
        self._box.setYRange(*shown, padding=self._margin)

    def _wanted_margin(self) -> float:
        """Of the range of values: in a low plot more than labels need, for rings."""
        if not any(drawn.may_have_ring for drawn in self.curves):
            return _MARGIN
        height = float(self._box.height())
        return max(_MARGIN, _RING_ROOM / max(height - 2.0 * _RING_ROOM, _RING_ROOM))
