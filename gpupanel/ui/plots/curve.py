"""What a curve of a plot is, apart from how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QColor

from gpupanel.ui.plots.legend import LegendEntry
from gpupanel.ui.plots.sample_buffer import SampleBuffer


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Where a curve's points are and how its legend reads.

    Attributes:
        color: Asked anew when the theme changes.
        text: A value as the legend writes it.
        widest: The widest text that a value can have.
        has_dots: A dot on each point, for the few values of epochs.
    """

    buffer: SampleBuffer
    label: str
    color: Callable[[], QColor]
    text: Callable[[float | None], str]
    widest: str
    has_dots: bool = False

    def legend_entry(self, at_s: float | None) -> LegendEntry:
        """What the legend says: the newest value, or that of the time under the pointer."""
        value = self.buffer.last() if at_s is None else self.buffer.value_at(at_s)
        return LegendEntry(self.label, self.text(value), self.widest, self.color(), self.has_dots)
