"""An axis of measured values."""

import pyqtgraph as pg
from typing_extensions import override

from gpupanel.ui.plots.axis_range import nice_step

_PIXELS_A_LABEL = 36.0


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at round numbers with thousands set apart, about as close as text needs."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks."""
        parts = max(2, int(size / _PIXELS_A_LABEL))
        return [(nice_step(maxVal - minVal, parts), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The values as people read them."""
        return [f"{value * scale:,.6g}" for value in values]
