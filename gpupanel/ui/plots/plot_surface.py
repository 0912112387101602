"""What all plots are made of: two axes and lines at their labels, in the colours of the theme."""

import html
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import theme
from gpupanel.ui.plots.axes import AxisGrid

SIDES: Final = ("left", "bottom")


class PlotSurface(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot without buttons and menus, which the mouse changes only where its box lets it.

    Args:
        bottom: The axis from left to right.
        left: The axis from below.
        box: What lies between them; ``None``: the mouse moves nothing.
        has_columns: Lines stand at the labels of the axis at the bottom, too.
    """

    def __init__(
        self,
        bottom: pg.AxisItem,
        left: pg.AxisItem,
        box: pg.ViewBox | None = None,
        parent: QWidget | None = None,
        *,
        has_columns: bool = True,
    ) -> None:
        self._box = pg.ViewBox(enableMouse=False, enableMenu=False) if box is None else box
        axes = {"bottom": bottom, "left": left}
        super().__init__(parent, viewBox=self._box, axisItems=axes, enableMenu=False)
        # Whoever turns the wheel over it means what it stands in.
        self.setInteractive(box is not None)
        item = self.getPlotItem()
        item.hideButtons()
        item.setContentsMargins(0, 8, 12, 0)
        self._box.disableAutoRange()
        self._box.setDefaultPadding(0.0)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._grids = [AxisGrid(each) for each in ((left, bottom) if has_columns else (left,))]
        for grid in self._grids:
            self.addItem(grid, ignoreBounds=True)
        for side in SIDES:
            self._dress_axis(side)
        for side in ("top", "right"):
            # Nobody sees them, yet each change of the range writes their labels anew.
            item.getAxis(side).enableAutoSIPrefix(False)
        theme.changes.changed.connect(self._take_theme)

    def setAxisTitle(self, side: str, title: str) -> None:
        """Write that beside the axis at the ``left`` or the ``bottom``."""
        # pyqtgraph takes it for HTML.
        self.getPlotItem().getAxis(side).setLabel(html.escape(visible_line(title)))

    @property
    def value_range(self) -> tuple[float, float]:
        """The range of values that is shown."""
        low, high = self._box.viewRange()[1]
        return float(low), float(high)

    def curves_place(self) -> QRectF:
        """Where in this widget the curves are, without the axes."""
        place = self._box.sceneBoundingRect()
        return QRectF(self.mapFromScene(place.topLeft()), place.size())

    def ticks(self, side: str) -> list[tuple[float, str]]:
        """What is labelled at the ``left`` or the ``bottom``: places and texts."""
        axis = self.getPlotItem().getAxis(side)
        low, high = self._box.viewRange()[1 if side == "left" else 0]
        size = self._box.height() if side == "left" else self._box.width()
        found: list[tuple[float, str]] = []
        for spacing, places in axis.tickValues(low, high, size):
            texts = axis.tickStrings(list(places), 1.0, spacing)
            found += zip(map(float, places), texts, strict=True)
        return found

    def recolor(self) -> None:
        """Take the colours of the theme that is shown now."""
        colors = theme.current()
        self.setBackground(colors.color("surface"))
        for side in SIDES:
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(colors.color("border")))
            axis.setTextPen(pg.mkPen(colors.color("muted")))
        for grid in self._grids:
            grid.setColor(colors.color("border"))

    @Slot()
    def _take_theme(self) -> None:
        # Qt forgets a widget that is gone by a slot that no class overrides.
        self.recolor()

    def _dress_axis(self, side: str) -> None:
        axis = self.getPlotItem().getAxis(side)
        font = theme.small_font(self.font())
        axis.setTickFont(font)
        axis.label.setFont(font)
        # Labels at the ends of an axis reach beyond it.
        axis.setStyle(tickLength=-3, tickTextOffset=4, hideOverlappingLabels=False)
        axis.enableAutoSIPrefix(False)
