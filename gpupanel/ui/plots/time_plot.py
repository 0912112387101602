"""A plot on its card: title, legend and curves."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.legend import Legend
from gpupanel.ui.theme import GRID

if TYPE_CHECKING:
    from gpupanel.ui.plots.plot_canvas import PlotCanvas


class TimePlot(QFrame):
    """Curves over the time since the start of the run.

    The canvas comes when the plot is first shown, or when :meth:`prepare` is called: importing
    pyqtgraph takes longer than all the rest of the window.

    Args:
        name: The object's name.
        tip: What the plot tells, for those who see it the first time.
        value_range: A range that never changes, or ``None`` to fit round numbers to the values.
        bounds: What a fitted range never leaves.
        empty_note: What stands in the plot while no curve has a point.
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
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("card", "true")
        self._value_range, self._bounds = value_range, bounds
        self._empty_note = empty_note
        self._curves: tuple[Curve, ...] = ()
        self._times = (0.0, 10.0)
        self._canvas: PlotCanvas | None = None
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

    def setTimeRange(self, start_s: float, end_s: float) -> None:
        """Show that span of time."""
        if (start_s, end_s) == self._times:
            return
        self._times = (start_s, end_s)
        if self._canvas is not None:
            self._canvas.setTimeRange(start_s, end_s)

    def redraw(self, pointer_s: float | None) -> None:
        """Bring everything up to date; the axes stay while the pointer is in some plot."""
        self._legend.setEntries(tuple(curve.legend_entry(pointer_s) for curve in self._curves))
        self.canvas.setPointer(pointer_s)
        self.canvas.redraw(keep_axes=pointer_s is not None)

    def prepare(self) -> None:
        """Make the canvas now, unless there is one."""
        if self._canvas is None:
            self._make_canvas()

    def _make_canvas(self) -> "PlotCanvas":
        from gpupanel.ui.plots.plot_canvas import PlotCanvas

        canvas = PlotCanvas(self._value_range, self._bounds, self._empty_note, self)
        canvas.setCurves(self._curves)
        canvas.setTimeRange(*self._times)
        canvas.timeRangeChosen.connect(self._take_range)
        canvas.timeRangeReset.connect(self.timeRangeReset)
        canvas.pointed.connect(self.pointed)
        self._layout.addWidget(canvas, 1)
        self._canvas = canvas
        return canvas

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.prepare()

    @Slot(float, float)
    def _take_range(self, start_s: float, end_s: float) -> None:
        self._times = (start_s, end_s)
        self.timeRangeChosen.emit(start_s, end_s)
