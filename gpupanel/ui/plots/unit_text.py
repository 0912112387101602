"""How the numbers of a metric are drawn and written, by their unit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.metric import Metric, Unit
from gpupanel.ui import formatting


@dataclass(frozen=True, slots=True)
class UnitText:
    """One unit in the window.

    Attributes:
        text: A value of the plot, in words.
        widest: The widest such text.
        scale: What a measured value is multiplied with to be drawn: 100 for percent.
        bounds: What the axis never leaves.
        can_be_log: It is above 0 and of any size.
        suffix: What stands behind a plot's title.
    """

    text: Callable[[float | None], str]
    widest: str = "0.00e-00"
    scale: float = 1.0
    bounds: tuple[float, float] = (0.0, float("inf"))
    can_be_log: bool = False
    suffix: str = ""

    def scaled_text(self, value: float | None) -> str:
        """A measured value, in words."""
        return self.text(None if value is None else value * self.scale)


def percent_text(value: float | None) -> str:
    """Percent, in words."""
    return formatting.fraction(None if value is None else value / 100.0)


_TEXTS: Final = {
    Unit.NUMBER: UnitText(formatting.number, can_be_log=True),
    Unit.FRACTION: UnitText(percent_text, "100.0 %", 100.0, (0.0, 100.0), suffix=", %"),
    Unit.UP_TO_ONE: UnitText(formatting.number, bounds=(float("-inf"), 1.0)),
    Unit.ANY: UnitText(formatting.number, bounds=(float("-inf"), float("inf"))),
    Unit.EXAMPLES_PER_SECOND: UnitText(formatting.rate, "9,999,999 ex/s"),
}


def unit_text(metric: Metric) -> UnitText:
    """How that metric is drawn and written."""
    return _TEXTS[metric.unit]


def plot_title(metric: Metric) -> str:
    """The title of a plot: with the unit, where the axis does not say it."""
    return f"{metric.title}{unit_text(metric).suffix}"
