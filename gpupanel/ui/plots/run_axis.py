"""What the axis at the bottom of a run's plots counts: what suits it, unless a person chose."""

from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.axis_scale import SAME_SCALE, AxisScale, StepScale
from gpupanel.ui.plots.run_curves import RunCurves

_SHORT_RUN_S = 120.0
"""A run that is no longer when its first steps are drawn is drawn over steps: by time, most of it
would be the start."""


class RunAxis:
    """Time, steps or epochs of a run, and where moments of it are on that axis.

    Attributes:
        kind: What is counted now.
        scale: Where moments are.
    """

    def __init__(self, curves: RunCurves) -> None:
        self.kind = AxisKind.TIME
        self.scale: AxisScale = SAME_SCALE
        self._chosen: AxisKind | None = None
        self.setRun(curves)

    def setRun(self, curves: RunCurves) -> None:
        """Another run: what a person chose stays."""
        self._curves = curves
        self._found: AxisKind | None = None
        self._steps_per_epoch: int | None = None
        self._is_other_length = False

    def choose(self, kind: AxisKind) -> None:
        """Count that, whatever a run is like."""
        self._chosen = kind

    @property
    def knows_epochs(self) -> bool:
        """Whether it is known how long an epoch is."""
        return self._steps_per_epoch is not None

    def learn_epochs(self) -> bool:
        """Take the length of an epoch from the run; whether it is another one than before."""
        length = self._curves.steps_per_epoch
        self._is_other_length = length != self._steps_per_epoch
        self._steps_per_epoch = length
        return self._is_other_length

    @property
    def is_outdated(self) -> bool:
        """Whether :meth:`update` would change something."""
        wanted = self._wanted()
        return wanted is not self.kind or (self._is_other_length and wanted is AxisKind.EPOCH)

    def update(self) -> None:
        """Count what is wanted now."""
        self.kind = self._wanted()
        unit = self._steps_per_epoch or 1 if self.kind is AxisKind.EPOCH else 1
        is_time = self.kind is AxisKind.TIME
        self.scale = SAME_SCALE if is_time else StepScale(self._curves.steps, unit)

    def whole(self) -> tuple[float, float]:
        """The whole run, as far as it has come."""
        curves = self._curves
        ends = {
            AxisKind.TIME: curves.elapsed_s,
            AxisKind.STEP: curves.steps.last_step,
            AxisKind.EPOCH: curves.steps.last_step / (self._steps_per_epoch or 1),
        }
        return self.kind.whole(ends[self.kind])

    def _wanted(self) -> AxisKind:
        if self._chosen is AxisKind.EPOCH and self._steps_per_epoch is None:
            return AxisKind.STEP
        if self._chosen is not None:
            return self._chosen
        curves = self._curves
        if self._found is None and curves.steps.last_step:
            is_short = curves.elapsed_s <= _SHORT_RUN_S
            self._found = AxisKind.STEP if is_short else AxisKind.TIME
        return self._found or AxisKind.TIME
