"""What a run has measured so far, as curves over the time since its start."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import (
    CheckpointSaved,
    DataReady,
    EpochDone,
    FiguresReported,
    FindingReported,
    FitBegan,
    RunRestarted,
    RunStarted,
    ScriptStarted,
    SharesChosen,
    StepsDone,
    TimeReported,
    TrainingResumed,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.steps_line import STEP_METRICS
from gpupanel.runs.following.event_tail import Part
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.readings import DeviceColumns, SampleBatch
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.runs.following.steps import Floats as Times
from gpupanel.runs.following.steps import StepBatch
from gpupanel.ui import formatting
from gpupanel.ui.plots.device_rates import DeviceRates
from gpupanel.ui.plots.device_spread import MOST_CURVES, DeviceSpread
from gpupanel.ui.plots.own_figures import OwnFigures
from gpupanel.ui.plots.sample_buffer import Floats, SampleBuffer
from gpupanel.ui.plots.step_track import StepTrack
from gpupanel.ui.plots.time_track import TimeTrack
from gpupanel.ui.plots.unit_text import unit_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DEVICE_CAPACITY = 65_536
_CALM_CAPACITY = 32_768
_ERROR = "mean_absolute_error"
_WAITING = "waiting_for_data"
"""What the steps of a program of the person's own say of it means nothing."""
"""How many points of curves that change slowly are kept."""

FURTHER_STEP_METRICS = tuple(
    metric
    for name, metric in STEP_METRICS.items()
    if not metric.is_of_model and name != "examples_per_second"
)
"""What steps report beside loss, accuracy and speed: each has a plot that a person asks for."""


class DeviceCurves:
    """Utilization of one device, and how much of its memory is in use: both in percent.

    Percent of each device's own memory, so that unequal devices can be compared and a full one
    is seen at once.
    """

    def __init__(self, memory_total_mib: int | None) -> None:
        self.memory_total_mib = memory_total_mib
        self.utilization = SampleBuffer(_DEVICE_CAPACITY)
        self.memory = SampleBuffer(_DEVICE_CAPACITY)

    def extend(self, moments: Floats, columns: DeviceColumns, within: "NDArray[np.bool_]") -> None:
        """Take in those of the readings; what they do not have leaves a gap."""
        import numpy as np

        utilization = np.asarray(columns.gpu_utilization_percent)[within]
        used, total = np.asarray(columns.memory_used_mib)[within], self.memory_total_mib
        self.utilization.extend(moments, utilization)
        self.memory.extend(moments, used * (100.0 / total if total else math.nan))

    def memory_text(self, value: float | None) -> str:
        """A value of the memory curve in GiB."""
        if value is None or self.memory_total_mib is None:
            return formatting.DASH
        return formatting.mib(value * self.memory_total_mib / 100.0)


class RunCurves:
    """Fed with events and samples as they are read; asked by plots when they draw.

    Samples that come before the run's first event wait for it: only then is it known when the
    time begins.

    Attributes:
        metric_name: What the metric curves hold: ``accuracy`` (in percent) or
            ``mean_absolute_error``; ``None`` until something was reported.
        steps: When which step was done.
        steps_per_epoch: How long an epoch is; ``None`` until that was reported.
        is_program: Whether a program of the person's own runs, which reports what it wants.
        own: What that calls by names of its own.
        further: Of each of :data:`FURTHER_STEP_METRICS` by its name, as it is drawn.
        devices: The curves of each device that the run has or reads; none where there are very
            many.
        spread: What these do together; ``None`` where each has its own curves.
        device_rates: What each device does of the examples a second.
        time_spent: Where the time went.
        replica_devices: Keys of the devices that compute the run's replicas, as far as known.
        checkpoints: When one was saved, each with the epoch it is of.
        resumptions: When training went on from a checkpoint, each with the step of that.
        findings: Since when something held it up, each with its place in ``finding_titles``.
        finding_titles: What that was, in a few words.
        elapsed_s: Up to when anything is known.
        has_readings: Whether the devices reported anything during the run.
    """

    def __init__(self) -> None:
        self.loss = SampleBuffer()
        self.validation_loss = SampleBuffer(4_096)
        self.metric = SampleBuffer()
        self.validation_metric = SampleBuffer(4_096)
        self.examples_per_second = SampleBuffer()
        self.further = {
            metric.name: SampleBuffer(_CALM_CAPACITY) if metric.is_even else SampleBuffer()
            for metric in FURTHER_STEP_METRICS
        }
        self.is_program = False
        self.own = OwnFigures()
        self._counts_by_figures = self._has_fit = False
        self.device_rates = DeviceRates()
        self.time_spent = TimeTrack()
        self.replica_devices: tuple[str, ...] = ()
        self.checkpoints = SampleBuffer(_CALM_CAPACITY)
        self.resumptions = SampleBuffer(_CALM_CAPACITY)
        self.findings = SampleBuffer(_CALM_CAPACITY)
        self.finding_titles: list[str] = []
        self.steps = StepTrack()
        self.steps_per_epoch: int | None = None
        self.metric_name: str | None = None
        self.devices: dict[str, DeviceCurves] = {}
        self.spread: DeviceSpread | None = None
        self.elapsed_s = 0.0
        self.has_readings = False
        self._inventory = DeviceInventory(devices=())
        self._planned: frozenset[str] | None = None
        self._read: set[str] = set()
        self._clock = RunClock()
        self._waiting: list[SampleBatch] = []

    @property
    def has_begun(self) -> bool:
        """Whether the run reported anything at all."""
        return self._clock.has_begun

    @property
    def has_points(self) -> bool:
        """Whether there is anything to draw."""
        return self.elapsed_s > 0.0

    def set_devices(self, inventory: DeviceInventory) -> None:
        """Make room for these devices; curves of devices that stay are kept."""
        self._inventory = inventory
        self._make_room()

    def set_plan(self, plan: LaunchPlan) -> None:
        """Know which device does which part of each batch, before any step is taken in."""
        if not self.is_program:
            self.device_rates.set_plan(plan)
            self.replica_devices = tuple(replica.device_key for replica in plan.replicas)
        self._planned = frozenset(device.key for device in plan.devices)
        self._make_room()

    def add_events(self, parts: Sequence[Part]) -> None:
        """Take in what the run reported."""
        steps: list[tuple[StepBatch, Times]] = []
        for part in parts:
            if isinstance(part, RunStarted | RunRestarted | TrainingResumed | SharesChosen):
                # The time of the run, or its curves, continue in another way: those before first.
                self._add_steps(steps)
                steps = []
            match part:
                case StepBatch():
                    steps.append((part, self._clock.see_steps(part)))
                case StepsDone():
                    batch = StepBatch.of([part])
                    steps.append((batch, self._clock.see_steps(batch)))
                case DataReady():
                    self._clock.see(part)
                    self.steps_per_epoch = (
                        part.steps_per_epoch if part.steps_per_epoch > 0 else None
                    )
                case ScriptStarted():
                    self._clock.see(part)
                    self._be_of_program()
                case FitBegan():
                    self._clock.see(part)
                    self._learn_epochs(part.steps_per_epoch)
                case FiguresReported() | FigureBatch():
                    if steps and self.metric_name is None:
                        # What they measure beside the loss decides what else has a plot of its own.
                        self._add_steps(steps)
                        steps = []
                    self._add_figures(
                        FigureBatch.of([part]) if isinstance(part, FiguresReported) else part
                    )
                case TrainingResumed():
                    moment = self._moment(self._clock.see(part))
                    self.steps.cut(part.step + 1.0, moment)
                    self.resumptions.append(moment, part.step)
                case SharesChosen():
                    self._clock.see(part)
                    self.device_rates.set_shares(part.shares)
                case CheckpointSaved():
                    moment = self._moment(self._clock.see(part))
                    self.checkpoints.append(moment, part.epoch)
                case TimeReported():
                    moment = self._moment(self._clock.see(part))
                    self.time_spent.add(moment, part.spent)
                case FindingReported():
                    self._add_finding(part, self._clock.see(part))
                case EpochDone():
                    self._add_epoch(part, self._clock.see(part))
                case RunRestarted():
                    self._clock.see(part)
                    self._break()
                case _:
                    self._clock.see(part)
        self._add_steps(steps)
        if self._clock.has_begun and self._waiting:
            waiting, self._waiting = self._waiting, []
            for samples in waiting:
                self.add_samples(samples)

    def add_samples(self, samples: SampleBatch) -> None:
        """Take in what the devices reported."""
        if not self._clock.has_begun:
            self._waiting.append(samples)
            return
        if not len(samples):
            return
        import numpy as np

        if not self._read.issuperset(samples.devices):
            self._read.update(samples.devices)
            self._make_room()
        moments = self._clock.moments(self._clock.see_samples(samples.time_s))
        # What was sampled before the run began is none of its own.
        within = ~np.isnan(moments)
        moments, nothing = moments[within], DeviceColumns(len(samples))
        if self.spread is not None:
            self.spread.extend(moments, samples, within)
        for key, curves in self.devices.items():
            curves.extend(moments, samples.devices.get(key, nothing), within)
        self.has_readings = self.has_readings or len(moments) > 0
        self.elapsed_s = max(self.elapsed_s, float(moments.max(initial=0.0)))

    def _make_room(self) -> None:
        """Have curves for the devices of the plan, and for others that readings are there of."""
        devices = self._inventory.devices
        if self._planned is not None:
            of_run = self._planned | self._read
            devices = tuple(device for device in devices if device.key in of_run)
        if len(devices) > MOST_CURVES:
            self.devices, self.spread = {}, self.spread or DeviceSpread()
            self.spread.set_devices(DeviceInventory(devices=devices))
            return
        self.spread = None
        if [device.key for device in devices] != [*self.devices]:
            # Another dictionary says that there are others to draw.
            self.devices = {
                device.key: self.devices.get(device.key) or DeviceCurves(device.memory_total_mib)
                for device in devices
            }

    def _add_steps(self, steps: Sequence[tuple[StepBatch, Times]]) -> None:
        """Take in steps, and when they were done, by the clock.

        Nothing happened between them that changes how they are drawn.
        """
        if not steps:
            return
        import numpy as np

        times_s = np.concatenate([np.asarray(times_s) for _, times_s in steps])
        moments = np.nan_to_num(self._clock.moments(times_s))
        done = np.concatenate([np.asarray(batch.step, dtype=np.float64) for batch, _ in steps])
        if self._counts_by_figures:
            # Loss or not, what fit counts is what the run counts.
            self.steps.clear()
            self._counts_by_figures = False
        self.steps.extend(moments, np.maximum(done, 0.0))
        self.loss.extend(moments, np.concatenate([batch.metrics["loss"] for batch, _ in steps]))
        rates = np.concatenate([batch.metrics["examples_per_second"] for batch, _ in steps])
        if not np.isnan(rates).all():
            self.examples_per_second.extend(moments, rates)
            self.device_rates.extend(moments, rates)
        for metric in FURTHER_STEP_METRICS:
            values = np.concatenate([batch.metrics[metric.name] for batch, _ in steps])
            is_reported = not (self.is_program and metric.name == _WAITING)
            if is_reported and not np.isnan(values).all():
                self.further[metric.name].extend(moments, unit_text(metric).scale * values)
        accuracy = np.concatenate([batch.metrics["accuracy"] for batch, _ in steps])
        known = ~np.isnan(accuracy)
        if known.any():
            self.metric_name = "accuracy"
            self.metric.extend(moments[known], 100.0 * accuracy[known])
        self.elapsed_s = max(self.elapsed_s, float(moments.max()))

    def _add_epoch(self, event: EpochDone, time_s: float) -> None:
        moment, metrics = self._moment(time_s), event.metrics
        if metrics.val_loss is not None:
            self.validation_loss.append(moment, metrics.val_loss)
        if self._has_fit and event.epoch > 0 and event.step % event.epoch == 0:
            # Of some data Keras knows only at its end how long it is.
            self.steps_per_epoch = self.steps_per_epoch or event.step // event.epoch or None
        for each, value in metrics.own.items():
            self._add_own(each, moment, value)
        name, measured, validated = _metric(metrics)
        if self.is_program:
            # The others come with the steps, under the same names.
            shown = ("val_loss", f"val_{name}")
            known = metrics.model_dump(exclude_none=True)
            of_validation = {each for each in known if each.startswith("val_")}
            others = [each for each in known if each in of_validation.difference(shown)]
            for each in others:
                self._add_own(each, moment, known[each])
        if name is None:
            return
        self.metric_name = name
        if name != "accuracy" and measured is not None:
            self.metric.append(moment, measured)
        if validated is not None:
            scale = 100.0 if name == "accuracy" else 1.0
            self.validation_metric.append(moment, scale * validated)

    def _be_of_program(self) -> None:
        """Know nothing of shares: what the program does with its devices, it decides itself."""
        self.is_program = True
        self.device_rates = DeviceRates()
        self.replica_devices = ()

    def _learn_epochs(self, steps_per_epoch: int | None) -> None:
        """Take the length of an epoch from a fit; of several that differ, none is the run's."""
        known, self._has_fit = self.steps_per_epoch, True
        is_same = known is None or steps_per_epoch is None or known == steps_per_epoch
        self.steps_per_epoch = (steps_per_epoch or known) if is_same else None

    def _add_own(self, name: str, moment: float, value: float) -> None:
        import numpy as np

        self.own.extend(name, np.array([moment]), np.array([value]))

    def _add_figures(self, batch: FigureBatch) -> None:
        import numpy as np

        moments = np.nan_to_num(self._clock.moments(self._clock.see_steps(batch)))
        for name, (places, values) in batch.figures.items():
            at, measured = moments[np.asarray(places)], np.asarray(values)
            if name == _ERROR and self.metric_name in (None, _ERROR):
                # Keras gives it with the steps, too: a plot of its own would be the same again.
                self.metric_name = _ERROR
                self.metric.extend(at, measured)
            else:
                self.own.extend(name, at, measured)
        self.elapsed_s = max(self.elapsed_s, float(moments.max()))
        steps = np.asarray(batch.step)
        said = ~np.isnan(steps)
        if said.any() and (self._counts_by_figures or not self.steps.last_step):
            # A program without a loss has steps all the same.
            self._counts_by_figures = True
            self.steps.extend(moments[said], steps[said])

    def _add_finding(self, event: FindingReported, time_s: float) -> None:
        """It stands where it began, which was before it was reported."""
        passed_s = max(0.0, event.time_s - event.since_s)
        self.findings.append(max(0.0, self._moment(time_s) - passed_s), len(self.finding_titles))
        self.finding_titles.append(event.title)

    def _break(self) -> None:
        """End every curve here: no line leads from before a restart to what is done again."""
        for curve in (self.loss, self.metric, self.examples_per_second, *self.further.values()):
            curve.end_line()
        self.own.end_line()
        self.device_rates.end_line()

    def _moment(self, time_s: float) -> float:
        moment = self._clock.seconds(time_s) or 0.0
        self.elapsed_s = max(self.elapsed_s, moment)
        return moment


def _metric(metrics: Metrics) -> tuple[str | None, float | None, float | None]:
    """Name, training value and validation value of what stands beside the loss."""
    if metrics.accuracy is not None or metrics.val_accuracy is not None:
        return "accuracy", metrics.accuracy, metrics.val_accuracy
    error, validated = metrics.mean_absolute_error, metrics.val_mean_absolute_error
    if error is not None or validated is not None:
        return _ERROR, error, validated
    return None, None, None
