"""A plot on its card: title, legend and curves."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.legend import Legend
from gpupanel.ui.plots.readout import Readout
from gpupanel.ui.theme import GRID

if TYPE_CHECKING:
    from gpupanel.ui.plots.plot_canvas import PlotCanvas


class TimePlot(QFrame):
    """Curves over the time since the start of the run.

    The canvas comes when the plot is first shown, or when :meth:`prepare` is called: importing
    pyqtgraph takes longer than all the rest of the window.

    Args:
        name: The object's name.
        tip: What the plot shows, for those who see it the first time.
        value_range: A range that never changes, or ``None`` to fit round numbers to the values.
        bounds: What a fitted range never leaves.
        empty_note: What stands in the plot while no curve has a point.
        has_readout: The values of all curves float beside the pointer.
    """

    timeRangeChosen = Signal(float, float)
    timeRangeReset = Signal()
    pointed = Signal(object)

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
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("card", "true")
        self._value_range, self._bounds = value_range, bounds
        self._empty_note = empty_note
        self._curves: tuple[Curve, ...] = ()
        self._times = (0.0, 10.0)
        self._axis = AxisKind.TIME
        self._canvas: PlotCanvas | None = None
        self._has_readout = has_readout
        self._readout: Readout | None = None
        self._is_pointed = False
        self._title = QLabel(title)
        self._title.setProperty("role", "title")
        self._title.setToolTip(tip)
        self._legend = Legend()
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._title)
        head.addWidget(self._legend, 1)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, GRID, GRID // 2, GRID // 2)
        self._layout.setSpacing(0)
        self._layout.addLayout(head)
        head.setContentsMargins(0, 0, GRID, 0)
        self.setMinimumSize(240, 96)

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

    def setTitle(self, title: str) -> None:
        """Call it something else."""
        self._title.setText(title)

    def setCurves(self, curves: tuple[Curve, ...]) -> None:
        """Draw these instead of what was drawn."""
        self._curves = curves
        if self._canvas is not None:
            self._canvas.setCurves(curves)

    def setBounds(self, low: float, high: float) -> None:
        """Never leave that range when fitting one to the values."""
        self._bounds = (low, high)
        if self._canvas is not None:
            self._canvas.setBounds(low, high)

    def setAxis(self, axis: AxisKind) -> None:
        """Count something else at the bottom; the curves' points have to be counted so, too."""
        if axis is not self._axis:
            self._axis = axis
            if self._canvas is not None:
                self._dress_axis(self._canvas)

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
        named = [curve for curve in self._curves if not curve.is_backdrop]
        self._legend.setEntries(tuple(curve.legend_entry(pointer_s) for curve in named))
        self.canvas.setPointer(pointer_s)
        self.canvas.redraw(keep_axes=pointer_s is not None)
        if self._readout is None:
            return
        if pointer_s is not None and self._is_pointed:
            heading = self._axis.position_words(pointer_s)
            place = self.canvas.place_of(pointer_s)
            self._readout.showAt(place, heading, self._legend.entries())
        else:
            self._readout.hide()

    @property
    def is_prepared(self) -> bool:
        """Whether there is a canvas: making one takes longer than the rest of the plot."""
        return self._canvas is not None

    def prepare(self) -> None:
        """Make the canvas now, unless there is one."""
        if self._canvas is None:
            self._make_canvas()

    def _make_canvas(self) -> "PlotCanvas":
        from gpupanel.ui.plots.plot_canvas import PlotCanvas

        canvas = PlotCanvas(self._value_range, self._bounds, self._empty_note, self)
        if self._axis is not AxisKind.TIME:
            self._dress_axis(canvas)
        canvas.setCurves(self._curves)
        canvas.setTimeRange(*self._times)
        canvas.timeRangeChosen.connect(self._take_range)
        canvas.timeRangeReset.connect(self.timeRangeReset)
        canvas.pointed.connect(self._take_pointer)
        self._readout = Readout(canvas) if self._has_readout else None
        self._layout.addWidget(canvas, 1)
        self._canvas = canvas
        return canvas

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        if self._readout is not None:
            self._readout.hide()
        super().hideEvent(event)

    def _dress_axis(self, canvas: "PlotCanvas") -> None:
        from gpupanel.ui.plots.axes import StepAxis, TimeAxis

        canvas.setAxis((StepAxis if self._axis is AxisKind.STEP else TimeAxis)("bottom"))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.prepare()

    @Slot(object)
    def _take_pointer(self, position: float | None) -> None:
        self._is_pointed = position is not None
        self.pointed.emit(position)

    @Slot(float, float)
    def _take_range(self, start_s: float, end_s: float) -> None:
        self._times = (start_s, end_s)
        self.timeRangeChosen.emit(start_s, end_s)
