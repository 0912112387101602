"""What a run has measured so far, as curves over the time since its start."""

from collections.abc import Sequence

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import EpochDone, Event, RunRestarted, StepsDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.ui import formatting
from gpupanel.ui.plots.sample_buffer import SampleBuffer

_DEVICE_CAPACITY = 65_536


class DeviceCurves:
    """Utilization of one device, and how much of its memory is in use: both in percent.

    Percent of each device's own memory, so that unequal devices can be compared and a full one
    is seen at once.
    """

    def __init__(self, memory_total_mib: int | None) -> None:
        self.memory_total_mib = memory_total_mib
        self.utilization = SampleBuffer(_DEVICE_CAPACITY)
        self.memory = SampleBuffer(_DEVICE_CAPACITY)

    def add(self, time_s: float, reading: DeviceReading | None) -> None:
        """Take in a reading; what it does not tell leaves a gap."""
        used = reading.memory_used_mib if reading is not None else None
        total = self.memory_total_mib
        self.utilization.append(
            time_s, reading.gpu_utilization_percent if reading is not None else None
        )
        self.memory.append(time_s, 100.0 * used / total if used is not None and total else None)

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
    """

    def __init__(self) -> None:
        self.loss = SampleBuffer()
        self.validation_loss = SampleBuffer(4_096)
        self.metric = SampleBuffer()
        self.validation_metric = SampleBuffer(4_096)
        self.examples_per_second = SampleBuffer()
        self.metric_name: str | None = None
        self.devices: dict[str, DeviceCurves] = {}
        self.elapsed_s = 0.0
        self._clock = RunClock()
        self._waiting: list[TelemetrySample] = []

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
        self.devices = {
            device.key: self.devices.get(device.key) or DeviceCurves(device.memory_total_mib)
            for device in inventory.devices
        }

    def add_events(self, events: Sequence[Event]) -> None:
        """Take in what the run reported."""
        for event in events:
            self._clock.see(event)
            match event:
                case RunRestarted():
                    self._break()
                case StepsDone():
                    self._add_steps(event)
                case EpochDone():
                    self._add_epoch(event)
                case _:
                    pass
        if self._clock.has_begun and self._waiting:
            waiting, self._waiting = self._waiting, []
            self.add_samples(waiting)

    def add_samples(self, samples: Sequence[TelemetrySample]) -> None:
        """Take in what the devices reported."""
        if not self._clock.has_begun:
            self._waiting.extend(samples)
            return
        for sample in samples:
            moment = self._clock.seconds(sample.time_s)
            if moment is None:
                continue
            for key, curves in self.devices.items():
                curves.add(moment, sample.reading(key))
            self.elapsed_s = max(self.elapsed_s, moment)

    def _add_steps(self, event: StepsDone) -> None:
        moment = self._moment(event.time_s)
        self.loss.append(moment, event.loss)
        self.examples_per_second.append(moment, event.examples_per_second)
        if event.accuracy is not None:
            self.metric_name = "accuracy"
            self.metric.append(moment, 100.0 * event.accuracy)

    def _add_epoch(self, event: EpochDone) -> None:
        moment, metrics = self._moment(event.time_s), event.metrics
        if metrics.val_loss is not None:
            self.validation_loss.append(moment, metrics.val_loss)
        name, measured, validated = _metric(metrics)
        if name is None:
            return
        self.metric_name = name
        if name != "accuracy" and measured is not None:
            self.metric.append(moment, measured)
        if validated is not None:
            scale = 100.0 if name == "accuracy" else 1.0
            self.validation_metric.append(moment, scale * validated)

    def _break(self) -> None:
        """End every curve here: no line leads from before a restart to what is done again."""
        for curve in (self.loss, self.metric, self.examples_per_second):
            if len(curve):
                curve.append(float(curve.times[-1]), None)

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
        return "mean_absolute_error", error, validated
    return None, None, None
