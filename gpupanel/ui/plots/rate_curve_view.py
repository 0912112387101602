"""The learning rate over the epochs of a training, as a small curve."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.plots.axes import EpochAxis, ValueAxis
from gpupanel.ui.plots.plot_surface import PlotSurface
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 18 * GRID
_MARGIN = 0.08
"""Of the greatest rate, above and below: labels need the room."""


class RateCurveView(PlotSurface):
    """A curve above 0, without anything to be chosen in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._rates: tuple[float, ...] = ()
        self._values = ValueAxis("left")
        super().__init__(EpochAxis("bottom"), self._values, parent=parent, has_columns=False)
        self._curve = pg.PlotCurveItem(antialias=True, fillLevel=0.0)
        self.addItem(self._curve)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Learning rate over the epochs")
        self.recolor()

    def setCurve(self, rates: Sequence[float], epochs: int, note: str = "") -> None:
        """Draw other rates.

        Args:
            rates: From the first step to the end, equally far apart.
            epochs: Of the training.
            note: What a curve cannot say.
        """
        self._rates = tuple(rates)
        words = f"From {rates[0]:.3g} to {rates[-1]:.3g}, at most {max(rates):.3g}. {note}".strip()
        self.setAccessibleDescription(words)
        self.setToolTip(wrapped(words))
        greatest = max(rates) or 1.0
        self._box.setXRange(0.0, epochs, padding=0.0)
        self._box.setYRange(0.0, greatest, padding=_MARGIN)
        self._values.setBounds(0.0, greatest)
        self.setAxisTitle("bottom", note or "Epochs")
        self._curve.setData(np.linspace(0.0, epochs, len(rates)), np.array(rates))

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that are drawn."""
        return self._rates

    @override
    def sizeHint(self) -> QSize:
        return QSize(30 * GRID, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(15 * GRID, _HEIGHT)

    @override
    def recolor(self) -> None:
        super().recolor()
        shade = theme.current().color("accent")
        self._curve.setPen(pg.mkPen(shade, width=1.5))
        shade.setAlphaF(0.18)
        self._curve.setBrush(pg.mkBrush(shade))
