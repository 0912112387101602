"""What the compared runs measured, as curves of one plot each."""

from collections.abc import Iterable, Sequence
from functools import partial

from gpupanel.domain.metric import Metric, Unit
from gpupanel.runs.history.curves import Floats, MetricPoints
from gpupanel.runs.history.metrics import METRICS, VALIDATED, own_metric
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.curve import Best, Curve, FixedPoints
from gpupanel.ui.plots.own_figures import MOST_PLOTS
from gpupanel.ui.plots.smoothing import smoothed
from gpupanel.ui.plots.unit_text import unit_text
from gpupanel.ui.workers.comparison_worker import ComparedRun


class ComparisonCurves:
    """The curves of all metrics, made anew only where something changed.

    Attributes:
        axis: What the curves are counted by.
        is_log: Whether losses, errors and rates stand at their logarithms.
        span: Steps over which the curves of steps are smoothed; 0: not at all.
        hidden: Places of the runs that are not drawn.
    """

    def __init__(self) -> None:
        self.axis = AxisKind.STEP
        self.is_log = False
        self.span = 0.0
        self.hidden: frozenset[int] = frozenset()
        self._runs: tuple[ComparedRun, ...] = ()
        self._made: dict[tuple[str, int], tuple[tuple[object, ...], tuple[Curve, ...]]] = {}

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        """The compared runs, as far as they were read."""
        return self._runs

    def set_runs(self, runs: Sequence[ComparedRun]) -> None:
        """Draw these runs; what was made of those that are still the same stays."""
        self._runs = tuple(runs)

    def metrics(self) -> tuple[Metric, ...]:
        """What any of the runs measured, hidden or not, so that hiding one moves no plot."""
        measured = dict.fromkeys(name for run in self._runs for name in run.points)
        known = (metric for name, metric in METRICS.items() if name in measured)
        return (*known, *self._own_metrics(measured))

    def _own_metrics(self, measured: Iterable[str]) -> tuple[Metric, ...]:
        """Figures of programs, training and validation of each beside each other."""
        own = [name for name in measured if name not in METRICS]
        figures = list(dict.fromkeys(name.removeprefix(VALIDATED) for name in own))
        pairs = ((name, f"{VALIDATED}{name}") for name in figures[:MOST_PLOTS])
        return tuple(own_metric(name) for pair in pairs for name in pair if name in own)

    def curves(self, metric: Metric) -> tuple[Curve, ...]:
        """Those of the runs that are shown, what was measured behind what was smoothed."""
        shown = [place for place in range(len(self._runs)) if place not in self.hidden]
        drawn = [curve for place in shown for curve in self._of_run(metric, place)]
        return tuple(sorted(drawn, key=lambda curve: not curve.is_backdrop))

    def is_smoothed(self, metric: Metric) -> bool:
        """Whether its curves are smoothed: not the few points of epochs, nor what is no sample."""
        return self.span > 0.0 and not metric.is_of_epochs and not metric.is_even

    @property
    def knows_epochs(self) -> bool:
        """Whether any of the runs can be counted by epochs."""
        return any(run.steps_per_epoch is not None for run in self._runs)

    def end(self) -> float:
        """Where on the axis the longest of the runs that are shown has come to."""
        return max(
            (
                float(self._positions(run, points)[-1])
                for place, run in enumerate(self._runs)
                if place not in self.hidden and self._has_place(run)
                for points in run.points.values()
            ),
            default=0.0,
        )

    def _of_run(self, metric: Metric, place: int) -> tuple[Curve, ...]:
        run = self._runs[place]
        points = run.points.get(metric.name)
        if points is None or not self._has_place(run):
            return ()
        made_of = (points, run.summary.title, self.axis, self.span, run.steps_per_epoch, run.style)
        key = (metric.name, place)
        if key not in self._made or not _is_same(self._made[key][0], made_of):
            self._made[key] = (made_of, self._make(metric, place, points))
        return self._made[key][1]

    def _make(self, metric: Metric, place: int, points: MetricPoints) -> tuple[Curve, ...]:
        unit, positions = unit_text(metric), self._positions(self._runs[place], points)
        style = self._runs[place].style
        values = points.values * unit.scale
        measured = FixedPoints(positions, values)
        curve = Curve(
            measured,
            self._runs[place].summary.title,
            partial(run_styles.color, style),
            unit.text,
            unit.widest,
            has_dots=metric.is_of_epochs,
            dashes=run_styles.dashes(style),
            best=_best(metric),
        )
        if not self.is_smoothed(metric):
            return (curve,)
        return curve.smoothed(FixedPoints(positions, smoothed(points.steps, values, self.span)))

    def _has_place(self, run: ComparedRun) -> bool:
        """Whether it is known where on the axis the run is."""
        return self.axis is not AxisKind.EPOCH or run.steps_per_epoch is not None

    def _positions(self, run: ComparedRun, points: MetricPoints) -> Floats:
        match self.axis:
            case AxisKind.STEP:
                return points.steps
            case AxisKind.EPOCH:
                return points.steps / (run.steps_per_epoch or 1)
            case AxisKind.TIME | AxisKind.CLOCK:
                return points.times_s


def _best(metric: Metric) -> Best | None:
    """Which point is marked: of the few of epochs, that of the best one."""
    if not metric.is_of_epochs or metric.unit is Unit.ANY:
        return None
    return Best.GREATEST if metric.more_is_better else Best.LEAST


def _is_same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Whether both are of the very same points, and else equal."""
    return before[0] is now[0] and before[1:] == now[1:]
