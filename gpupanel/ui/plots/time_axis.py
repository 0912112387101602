"""An axis of seconds since the start of a run."""

import pyqtgraph as pg
from typing_extensions import override

from gpupanel.ui import formatting

_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_PIXELS_A_LABEL = 64.0


class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Labels at whole seconds, minutes and hours: "0:30", "1:15:00"."""

    @override
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """One level of ticks, as close as their labels have room."""
        rough = (maxVal - minVal) * _PIXELS_A_LABEL / max(1.0, size)
        step = next((step for step in _STEPS_S if step >= rough), None)
        if step is None:
            days = int(rough // _STEPS_S[-1]) + 1
            step = days * _STEPS_S[-1]
        return [(float(step), 0.0)]

    @override
    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The times as people read them."""
        return [formatting.duration(value * scale) for value in values]
