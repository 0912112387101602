"""An axis of optimizer updates since the start of a run."""

import pyqtgraph as pg
from typing_extensions import override

from gpupanel.ui.plots.axis_range import nice_step

_PIXELS_A_LABEL = 88.0


class StepAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at whole steps, at round numbers with thousands set apart: "12,000"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        parts = max(1, int(size / _PIXELS_A_LABEL))
        return [(max(1.0, nice_step(maxVal - minVal, parts)), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The steps as people read them."""
        return [f"{value * scale:,.0f}" for value in values]
