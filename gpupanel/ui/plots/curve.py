"""What a curve of a plot is, apart from how it is drawn."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QColor

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.plots.legend import LegendEntry

if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats


_revisions = count()


class FixedPoints:
    """Points that never change; a curve that goes on gets others.

    Args:
        positions: Ascending, one dimension: seconds or steps.
        values: One for each position, finite.
    """

    def __init__(self, positions: "Floats", values: "Floats") -> None:
        self._positions, self._values = positions, values
        self._revision = next(_revisions)

    def __len__(self) -> int:
        return int(self._values.size)

    @property
    def revision(self) -> int:
        """No other points have the same."""
        return self._revision

    @property
    def times(self) -> "Floats":
        """Where the points are on the axis at the bottom."""
        return self._positions

    @property
    def values(self) -> "Floats":
        """One for each of the places."""
        return self._values

    def value_at(self, position: float) -> float | None:
        """The value of the last point up to there; ``None`` before the first, after the last."""
        index = bisect_right(self._positions, position) - 1
        if index < 0 or position > self._positions[-1]:
            return None
        return float(self._values[index])

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return float(self._values[-1]) if len(self) else None


class CurvePoints(Protocol):
    """What a curve is drawn of: a buffer that grows, or points that stay as they are."""

    @property
    def revision(self) -> int:
        """Changes whenever the points do."""

    @property
    def times(self) -> "Floats":
        """Places on the axis at the bottom, ascending."""

    @property
    def values(self) -> "Floats":
        """One for each of the places; not-a-number where there is none."""

    def value_at(self, position: float, /) -> float | None:
        """The value of the last point up to there."""

    def last(self) -> float | None:
        """The newest value."""


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What happened to a run, and when.

    Attributes:
        checkpoints: Their values are the epochs that they are of.
        resumptions: When training went on from a checkpoint.
        findings: Since when something held it up; their values are places in ``finding_titles``.
        finding_titles: What that was, in a few words; it grows with them.
    """

    checkpoints: CurvePoints
    resumptions: CurvePoints
    findings: CurvePoints
    finding_titles: Sequence[str]


class Best(Enum):
    """Which point of a curve gets a ring."""

    LEAST = "least"
    GREATEST = "greatest"


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Where a curve's points are and how its legend reads.

    Attributes:
        color: Asked anew when the theme changes.
        text: A value as the legend writes it.
        widest: The widest text that a value can have.
        has_dots: A dot on each point, for the few values of epochs.
        dashes: Lengths of dashes and gaps by turns, in pixels; empty: one line without gaps.
        is_backdrop: Faint, behind the others, and in no legend: what another curve was made of.
        best: Which of its points is marked as the best; ``None``: none.
        band: Its place in a band of curves that stand on each other, from below: what is under it
            is filled, down to the one before; ``None``: it is a line.
        said: What its value is taken from where that is not its height.
    """

    buffer: CurvePoints
    label: str
    color: Callable[[], QColor]
    text: Callable[[float | None], str]
    widest: str
    has_dots: bool = False
    dashes: tuple[float, ...] = ()
    is_backdrop: bool = False
    best: Best | None = None
    band: int | None = None
    said: CurvePoints | None = None

    def smoothed(self, points: CurvePoints) -> tuple["Curve", "Curve"]:
        """What was measured, faint, and before it the curve of these points."""
        return replace(self, is_backdrop=True), replace(self, buffer=points)

    def legend_entry(self, at_s: float | None, *, is_hidden: bool = False) -> LegendEntry:
        """What the legend says: the newest value, or that of the time under the pointer."""
        points = self.buffer if self.said is None else self.said
        value = points.last() if at_s is None else points.value_at(at_s)
        return LegendEntry(
            visible_line(self.label),
            self.text(value),
            self.widest,
            self.color(),
            self.has_dots,
            self.dashes,
            is_hidden,
            # Of a band, what stands on it would take its place.
            can_be_hidden=self.band is None,
            keeps_name=self.band is not None,
        )
