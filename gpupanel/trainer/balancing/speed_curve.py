"""How long a replica takes for so many examples, as a straight line through what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

_LEAST_PER_EXAMPLE_S = 1e-12
"""More examples always take longer, if only a little: a share is then never a matter of taste."""


_LEAST_SLOPE = 0.02
"""Of that of a line through the origin. A flatter line says that examples cost nothing, which is
the noise of a busy machine: whoever believed it would give one replica everything."""


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """The seconds of one replica's part of a step: ``fixed_s + per_example_s * share``.

    Attributes:
        fixed_s: What a part takes however small it is; at least 0.
        per_example_s: Greater than 0.
        largest_share: The most examples that fit its memory at once; ``None``: any number.
    """

    fixed_s: float
    per_example_s: float
    largest_share: int | None = None

    def seconds(self, share: int) -> float:
        """What a part of so many examples takes."""
        return self.fixed_s + self.per_example_s * share

    def examples_per_second(self, share: int) -> float:
        """The speed at that share, if nobody has to be waited for."""
        return share / self.seconds(share)

    def slower(self, factor: float) -> "SpeedCurve":
        """The curve of a replica that takes so many times as long."""
        per_example_s = max(self.per_example_s * factor, _LEAST_PER_EXAMPLE_S)
        return replace(self, fixed_s=self.fixed_s * factor, per_example_s=per_example_s)


def fit_curve(
    measured: Sequence[tuple[int, float]], largest_share: int | None = None
) -> SpeedCurve:
    """The line that is nearest to the measurements, relative to their size.

    Args:
        measured: Examples of a part, greater than 0, and the seconds that it took; at least one.
        largest_share: See :class:`SpeedCurve`.

    Raises:
        ValueError: Nothing was measured.
    """
    if not measured:
        raise ValueError("a curve needs a measurement")
    # Errors are relative: ten percent of a short time count like ten percent of a long one.
    points = [(n, s, 1.0 / max(s, 1e-9) ** 2) for n, s in measured]
    weight = sum(w for _, _, w in points)
    mean_n = sum(w * n for n, _, w in points) / weight
    mean_s = sum(w * s for _, s, w in points) / weight
    spread = sum(w * (n - mean_n) ** 2 for n, _, w in points)
    joint = sum(w * (n - mean_n) * (s - mean_s) for n, s, w in points)
    slope = joint / spread if spread > 0.0 else 0.0
    # No part takes less than nothing: the steepest line goes through the origin.
    steepest = sum(w * n * s for n, s, w in points) / sum(w * n * n for n, _, w in points)
    if slope < _LEAST_SLOPE * steepest:
        slope = steepest
    fixed_s = mean_s - slope * mean_n
    if fixed_s < 0.0 or slope == steepest:
        slope, fixed_s = steepest, 0.0
    return SpeedCurve(fixed_s, max(slope, _LEAST_PER_EXAMPLE_S), largest_share)
