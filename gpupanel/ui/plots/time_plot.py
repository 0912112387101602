"""A plot on its card: title, legend and curves."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QHideEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.axis_scale import SAME_SCALE, AxisScale
from gpupanel.ui.plots.curve import Curve, Marks
from gpupanel.ui.plots.legend import Legend
from gpupanel.ui.plots.picture import PicturePlot
from gpupanel.ui.plots.readout import Readout
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    from gpupanel.ui.plots.plot_canvas import PlotCanvas


class TimePlot(QFrame):
    """Curves over the time since the start of the run, over steps or epochs.

    The canvas comes when the plot is first shown, or when :meth:`prepare` is called: importing
    pyqtgraph takes longer than all the rest of the window.

    Args:
        name: The object's name.
        tip: What the plot shows, for those who see it the first time.
        value_range: A range that never changes, or ``None`` to fit round numbers to the values.
        bounds: What a fitted range never leaves.
        empty_note: What stands in the plot while no curve has a point.
        has_readout: The values of all curves float beside the pointer.
        can_be_log: The values are above 0 and of any size.
        has_bottom_labels: The axis at the bottom has labels of its own.
    """

    timeRangeChosen = Signal(float, float)
    timeRangeReset = Signal()
    pointed = Signal(object)
    enlargeRequested = Signal()
    """The head was clicked twice: it is to fill the place of all plots, or give it back."""
    curveToggled = Signal(str)
    """The curve of that label is to be hidden, or shown again."""

    def __init__(
        self,
        name: str,
        title: str,
        tip: str,
        *,
        value_range: tuple[float, float] | None = None,
        bounds: tuple[float, float] = (float("-inf"), float("inf")),
        empty_note: str = "",
        has_readout: bool = False,
        can_be_log: bool = False,
        has_bottom_labels: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("card", "true")
        self._value_range, self._bounds = value_range, bounds
        self._empty_note = empty_note
        self.curves: tuple[Curve, ...] = ()
        """Those that were set, hidden ones too."""
        self._marks: Marks | None = None
        self._times = (0.0, 10.0)
        self._axis = AxisKind.TIME
        self._scale: AxisScale = SAME_SCALE
        self._can_be_log, self.is_log = can_be_log, False
        self._has_bottom_labels = has_bottom_labels
        self._canvas: PlotCanvas | None = None
        self._has_readout = has_readout
        self._readout: Readout | None = None
        self._is_pointed = False
        self._title = QLabel(title)
        self._title.setProperty("role", "title")
        self._title.setToolTip(wrapped(tip))
        self._hidden: frozenset[str] = frozenset()
        self._legend = Legend()
        self._legend.setAccessibleName(f"Curves of {title}")
        self._legend.toggled.connect(self._on_toggled)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._title)
        head.addWidget(self._legend, 1)
        self._head = head
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, GRID, GRID // 2, GRID // 2)
        self._layout.setSpacing(0)
        self._layout.addLayout(head)
        head.setContentsMargins(0, 0, GRID, 0)
        self.setMinimumSize(216, 72)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.enlargeRequested.emit()

    @property
    def legend(self) -> Legend:
        """Which curve is which, and what it stands at."""
        return self._legend

    @property
    def canvas(self) -> "PlotCanvas":
        """What pyqtgraph paints, made now if it was not yet."""
        return self._make_canvas() if self._canvas is None else self._canvas

    def title(self) -> str:
        """What it is called."""
        return self._title.text()

    def setCorner(self, widget: QWidget) -> None:
        """Put something behind the legend."""
        self._head.addWidget(widget)

    def setTitle(self, title: str) -> None:
        """Call it something else."""
        self._title.setText(title)
        self._legend.setAccessibleName(f"Curves of {title}")

    def setCurves(self, curves: tuple[Curve, ...]) -> None:
        """Draw these instead of what was drawn."""
        self.curves = curves
        if self._canvas is not None:
            self._canvas.setCurves(curves)

    def setEmptyNote(self, words: str) -> None:
        """What stands in the plot while no curve has a point; empty: nothing."""
        self._empty_note = words
        if self._canvas is not None:
            self._canvas.setEmptyNote(words)

    def setMarks(self, marks: Marks | None) -> None:
        """Mark these instead of what was marked."""
        self._marks = marks
        if self._canvas is not None:
            self._canvas.setMarks(marks)

    def setHiddenCurves(self, labels: frozenset[str]) -> None:
        """Draw the curves that are called so no longer; all others are drawn."""
        self._hidden = labels
        if self._canvas is not None:
            self._canvas.setHiddenCurves(labels)

    def setBounds(self, low: float, high: float) -> None:
        """Never leave that range when fitting one to the values."""
        self._bounds = (low, high)
        if self._canvas is not None:
            self._canvas.setBounds(low, high)

    def setAxis(self, axis: AxisKind, scale: AxisScale = SAME_SCALE) -> None:
        """Count something else at the bottom.

        Args:
            axis: What.
            scale: Where on it the curves' points are.
        """
        is_other = axis is not self._axis
        self._axis, self._scale = axis, scale
        if self._canvas is not None:
            self._canvas.setScale(self._scale)
            if is_other:
                self._canvas.setAxis(axis)

    def setLogarithmic(self, is_log: bool) -> None:
        """Whether values that can stand at their logarithms do so."""
        self.is_log = is_log and self._can_be_log
        if self._canvas is not None:
            self._canvas.setLogarithmic(self.is_log)

    def setTimeRange(self, start_s: float, end_s: float) -> None:
        """Show that span of time."""
        if (start_s, end_s) == self._times:
            return
        self._times = (start_s, end_s)
        if self._canvas is not None:
            self._canvas.setTimeRange(start_s, end_s)

    def fitValues(self) -> None:
        """Fit the range of values to what is shown again, whatever a person chose."""
        if self._canvas is not None:
            self._canvas.fitValues()

    def redraw(self, pointer_s: float | None) -> None:
        """Bring everything up to date; the axes stay while the pointer is in some plot.

        Where a person zooms meanwhile, the values are fitted to what is shown then.
        """
        named = [curve for curve in self.curves if not curve.is_backdrop]
        time_s = None if pointer_s is None else self._scale.time_at(pointer_s)
        bests = self.canvas.bests()
        entries = (
            replace(
                curve.legend_entry(time_s, is_hidden=curve.label in self._hidden),
                note=self._best_words(curve, bests.get(curve.label)),
            )
            for curve in named
        )
        self._legend.setEntries(tuple(entries))
        self.canvas.setPointer(pointer_s)
        self.canvas.redraw(keep_axes=pointer_s is not None)
        if self._readout is None:
            return
        if pointer_s is not None and self._is_pointed:
            near = self.canvas.mark_text_near(pointer_s)
            words = (self._axis.position_text(pointer_s), near)
            heading = " · ".join(word for word in words if word)
            place = self.canvas.place_of(pointer_s)
            shown = tuple(entry for entry in self._legend.entries() if not entry.is_hidden)
            self._readout.showAt(place, heading, shown)
        else:
            self._readout.hide()

    def _best_words(self, curve: Curve, best: tuple[float, float] | None) -> str:
        if best is None:
            return ""
        position, value = best
        return f"best {curve.text(value)}, {self._axis.position_text(position)}"

    @property
    def is_prepared(self) -> bool:
        """Whether there is a canvas: making one takes longer than the rest of the plot."""
        return self._canvas is not None

    def prepare(self) -> None:
        """Make the canvas now, unless there is one."""
        if self._canvas is None:
            self._make_canvas()

    def _make_canvas(self) -> "PlotCanvas":
        canvas = self._dressed_canvas(self._empty_note, self)
        canvas.setTimeRange(*self._times)
        canvas.timeRangeChosen.connect(self._take_range)
        canvas.timeRangeReset.connect(self.timeRangeReset)
        canvas.pointed.connect(self._take_pointer)
        self._readout = Readout(canvas) if self._has_readout else None
        self._layout.addWidget(canvas, 1)
        self._canvas = canvas
        return canvas

    def _dressed_canvas(
        self, empty_note: str, parent: QWidget | None, line_width: float = 1.0
    ) -> "PlotCanvas":
        """A canvas of all that this plot shows."""
        from gpupanel.ui.plots.plot_canvas import PlotCanvas

        canvas = PlotCanvas(
            self._value_range,
            self._bounds,
            empty_note,
            parent,
            line_width=line_width,
            has_bottom_labels=self._has_bottom_labels,
        )
        canvas.setAxis(self._axis)
        canvas.setScale(self._scale)
        canvas.setLogarithmic(self.is_log)
        canvas.setCurves(self.curves)
        canvas.setMarks(self._marks)
        canvas.setHiddenCurves(self._hidden)
        return canvas

    def picture_plot(self, span: tuple[float, float], *, has_legend: bool) -> PicturePlot:
        """The same for a picture.

        Args:
            span: The part of the axis at the bottom.
            has_legend: Whether its legend stands beside its title.
        """
        entries = tuple(
            curve.legend_entry(None)
            for curve in self.curves
            if not curve.is_backdrop and curve.label not in self._hidden
        )
        make = partial(self._picture_canvas, span)
        return PicturePlot(self.title(), make, entries if has_legend else ())

    def _picture_canvas(
        self, span: tuple[float, float], size: QSize, line_width: float
    ) -> "PlotCanvas":
        canvas = self._dressed_canvas("", None, line_width)
        canvas.resize(size)
        # A widget that is not shown learns its size when it is painted: what is drawn follows it.
        canvas.grab()
        canvas.setTimeRange(*span)
        if self._canvas is not None and self._canvas.chosen_values is not None:
            canvas.chooseValues(self._canvas.chosen_values)
        canvas.redraw(keep_axes=False)
        return canvas

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        if self._readout is not None:
            self._readout.hide()
        super().hideEvent(event)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.prepare()

    @Slot(str)
    def _on_toggled(self, shown: str) -> None:
        """A legend shows labels as they can be read: the curve's own is wanted."""
        for curve in self.curves:
            if visible_line(curve.label) == shown:
                self.curveToggled.emit(curve.label)
                return

    @Slot(object)
    def _take_pointer(self, position: float | None) -> None:
        self._is_pointed = position is not None
        self.pointed.emit(position)

    @Slot(float, float)
    def _take_range(self, start_s: float, end_s: float) -> None:
        self._times = (start_s, end_s)
        self.timeRangeChosen.emit(start_s, end_s)
