"""Samples of the devices, written beside the events of a run while it goes on."""

import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic.main import IncEx

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample, ThrottleReason
from gpupanel.files.line_log import LineLog
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.supervision.node_samples import NodeSamples

if TYPE_CHECKING:
    from gpupanel.devices.sampler import DeviceSampler
    from gpupanel.domain.device import DeviceInventory

SAMPLE_INTERVAL_S: Final = 0.5
FAST_INTERVAL_S: Final = 0.1
FULL_DETAIL_S: Final = 600.0
"""So long every sample is kept."""
_SHARE_OF_AGE: Final = 1.0 / 1200.0
"""Then one in each 1,200th of the run's age, which is less than a pixel of its plots."""
LONGEST_INTERVAL_S: Final = 10.0
"""But never less often: so a day comes to some 13,000 samples, and a curve still looks live."""

_CURVES: Final = (
    *("key", "state", "age_s", "memory_used_mib", "gpu_utilization_percent"),
    *("memory_utilization_percent", "temperature_c", "power_w", "clock_mhz", "throttle_reasons"),
    "ecc_uncorrected",
)
# What is worth knowing of a run that is over: what moves while it goes on, and with whom it shared
# its GPUs. The rest would make a line five times as long, twice a second.
_OF_A_PROCESS: Final[dict[str, IncEx | bool]] = {"pid": True, "name": True, "memory_used_mib": True}
_OF_A_READING: Final[dict[str, IncEx | bool]] = {
    **dict.fromkeys(_CURVES, True),
    "processes": {"__all__": _OF_A_PROCESS},
}
_OF_READINGS: Final[dict[str, IncEx | bool]] = {"__all__": _OF_A_READING}
_KEPT: Final[dict[str, IncEx | bool]] = {"time_s": True, "readings": _OF_READINGS}

_Level = TypeVar("_Level", int, float)

Listener = Callable[[TelemetrySample, float], None]
"""Called in the sampling thread with each sample, and when the devices were first asked for it, by
a clock that nobody sets."""


def telemetry_line(sample: TelemetrySample) -> str:
    """What is kept of a sample: a line that :class:`TelemetrySample` reads, without its end."""
    return sample.model_dump_json(include=_KEPT, exclude_none=True, exclude_defaults=True)


class TelemetryRecorder:
    """Writes ``telemetry.jsonl`` from a thread of its own, so that a slow driver delays nobody.

    Samples are taken twice a second as long as the run lasts. What is kept of them thins with the
    run's age: see :class:`SampleThinning`.

    Args:
        layout: The run.
        listener: Gets each sample.
        samples: What the nodes of a cluster report; ``None``: this machine is asked.
        keys: The devices of this machine that are read, its processor besides; ``None``: all.
        cuda_variables: What the inventory says that the shell leaves of the GPUs.

    Attributes:
        inventory: The devices of this machine; ``None`` until they were first read.
    """

    def __init__(
        self,
        layout: RunLayout,
        listener: Listener,
        samples: NodeSamples | None = None,
        keys: frozenset[str] | None = None,
        cuda_variables: CudaVariables | None = None,
    ) -> None:
        self.inventory: DeviceInventory | None = None
        self._layout = layout
        self._listener = listener
        self._samples = samples
        self._keys = keys
        self._cuda_variables = cuda_variables
        self._interval_s = SAMPLE_INTERVAL_S
        self._thinning = SampleThinning()
        self._woken = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._record, name="telemetry", daemon=True)

    def start(self) -> None:
        """Start sampling."""
        self._thread.start()

    def sample_faster(self) -> None:
        """Sample at once, and more often from now on; each sample is kept."""
        self._interval_s = FAST_INTERVAL_S
        self._thinning.keep_all()
        self._woken.set()

    def stop(self, timeout_s: float = 2.0) -> None:
        """End sampling; a driver that does not answer is left behind."""
        self._ending.set()
        self._woken.set()
        self._thread.join(timeout_s)

    def _record(self) -> None:
        kept = _KeptSamples(self._layout.telemetry)
        with self._sampler() as sampler:
            while self._pause():
                begun_s = time.monotonic()
                sample = sampler.sample()
                self.inventory = sampler.inventory()
                if not sample.readings:
                    continue  # no node has reported yet
                self._listener(sample, begun_s)
                kept.add(self._thinning.take(sample, time.monotonic()))
            kept.add(self._thinning.rest())
        kept.close()

    def _sampler(self) -> "AbstractContextManager[DeviceSampler | NodeSamples]":
        if self._samples is not None:
            return nullcontext(self._samples)
        # Imported here: NVML and psutil load while the trainer already starts.
        from gpupanel.devices.sampler import DeviceSampler

        # The run uses them, so they are awake; others are left asleep.
        return DeviceSampler(keys=self._keys, cuda_variables=self._cuda_variables, find_claims=None)

    def _pause(self) -> bool:
        """Wait until the next sample is due; whether there is to be one."""
        self._woken.wait(self._interval_s)
        self._woken.clear()
        return not self._ending.is_set()


class _KeptSamples:
    """Appends samples; where one cannot be written there is a gap in the curves.

    A full disk is reported to the person by the trainer's own writes; what is logged here, as it
    begins and as it is over, is for whoever wonders about the gap.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log: LineLog | None = None
        self._left_out = 0
        self._reported_made_anew = 0

    def add(self, sample: TelemetrySample | None) -> None:
        if sample is None:
            return
        try:
            if self._log is None:
                self._log = LineLog(self._path)
            self._log.append(telemetry_line(sample))
        except OSError as error:
            if not self._left_out:
                write_to_process_log(f"telemetry: samples are left out: {error}")
            self._left_out += 1
            return
        if self._left_out:
            # On a full disk there was no room to say so before.
            write_to_process_log(
                f"telemetry: {self._left_out:,} samples could not be written: a gap."
            )
            self._left_out = 0
        if self._log.times_made_anew > self._reported_made_anew:
            self._reported_made_anew = self._log.times_made_anew
            write_to_process_log(
                f"telemetry: {self._path.name} was deleted or replaced during the run: the curves "
                "of the devices before that are gone."
            )

    def close(self) -> None:
        if self._log is not None:
            self._log.close()


class SampleThinning:
    """Keeps every sample of a run at first, and later one in the place of several.

    That one says of each device what a sample of the whole interval would: the mean of what is a
    share of time or a rate, the greatest of what is a level. So no peak of memory or temperature
    is lost, and utilization keeps its meaning.
    """

    def __init__(self) -> None:
        self._begun_s: float | None = None
        self._kept_s = float("-inf")
        self._waiting: list[TelemetrySample] = []
        self._keeps_all = False

    def keep_all(self) -> None:
        """Keep every sample from now on."""
        self._keeps_all = True

    def take(self, sample: TelemetrySample, now_s: float) -> TelemetrySample | None:
        """What is to be kept now, which stands for all samples since; ``None``: nothing yet.

        Args:
            sample: The newest.
            now_s: When it was taken, by a clock that nobody sets.
        """
        if self._begun_s is None:
            self._begun_s = now_s
        self._waiting.append(sample)
        interval_s = 0.0 if self._keeps_all else _interval_s(now_s - self._begun_s)
        if now_s - self._kept_s < interval_s:
            return None
        self._kept_s = now_s
        return self.rest()

    def rest(self) -> TelemetrySample | None:
        """What still waits, as one sample."""
        waiting, self._waiting = self._waiting, []
        return _summary(waiting) if waiting else None


def _interval_s(age_s: float) -> float:
    return 0.0 if age_s < FULL_DETAIL_S else min(age_s * _SHARE_OF_AGE, LONGEST_INTERVAL_S)


def _summary(samples: Sequence[TelemetrySample]) -> TelemetrySample:
    last = samples[-1]
    if len(samples) == 1:
        return last
    # Of a cluster there are hundreds: none is searched for.
    by_key: dict[str, list[DeviceReading]] = {reading.key: [] for reading in last.readings}
    for sample in samples:
        for reading in sample.readings:
            if reading.key in by_key:
                by_key[reading.key].append(reading)
    readings = tuple(_reading_of_all(by_key[reading.key]) for reading in last.readings)
    return last.model_copy(update={"readings": readings})


def _reading_of_all(readings: Sequence[DeviceReading]) -> DeviceReading:
    return readings[-1].model_copy(
        update={
            "gpu_utilization_percent": _mean(each.gpu_utilization_percent for each in readings),
            "memory_utilization_percent": _mean(
                each.memory_utilization_percent for each in readings
            ),
            "power_w": _mean(each.power_w for each in readings),
            "memory_used_mib": _most(each.memory_used_mib for each in readings),
            "temperature_c": _most(each.temperature_c for each in readings),
            "throttle_reasons": _any_of(each.throttle_reasons for each in readings),
        }
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 1) if known else None


def _most(values: Iterable[_Level | None]) -> _Level | None:
    return max((value for value in values if value is not None), default=None)


def _any_of(
    several: Iterable[tuple[ThrottleReason, ...] | None],
) -> tuple[ThrottleReason, ...] | None:
    known = [reasons for reasons in several if reasons is not None]
    if not known:
        return None
    seen = {reason for reasons in known for reason in reasons}
    return tuple(reason for reason in ThrottleReason if reason in seen)
