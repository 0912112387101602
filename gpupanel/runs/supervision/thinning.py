"""What is kept of the samples of a run that lasts for days."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from gpupanel.domain.telemetry import DeviceReading, TelemetrySample, ThrottleReason

FULL_DETAIL_S: Final = 600.0
"""So long every sample is kept."""
_SHARE_OF_AGE: Final = 1.0 / 1200.0
"""Then one in each 1,200th of the run's age, which is less than a pixel of its plots."""
LONGEST_INTERVAL_S: Final = 10.0
"""But never less often: so a day comes to some 13,000 samples, and a curve still looks live."""

_Level = TypeVar("_Level", int, float)


class SampleThinning:
    """Lets every sample pass at first, and later one in the place of several.

    That one says of each device what a sample of the whole interval would: the mean of what is a
    share of time or a rate, the greatest of what is a level. So no peak of memory or temperature
    is lost, and utilization keeps its meaning.
    """

    def __init__(self) -> None:
        self._begun_s: float | None = None
        self._passed_s = float("-inf")
        self._waiting: list[TelemetrySample] = []
        self._lets_all_pass = False

    def let_all_pass(self) -> None:
        """Keep every sample from now on."""
        self._lets_all_pass = True

    def take(self, sample: TelemetrySample, now_s: float) -> TelemetrySample | None:
        """What is to be kept now, which stands for all samples since; ``None``: nothing yet.

        Args:
            sample: The newest.
            now_s: When it was taken, by a clock that nobody sets.
        """
        if self._begun_s is None:
            self._begun_s = now_s
        self._waiting.append(sample)
        interval_s = 0.0 if self._lets_all_pass else _interval_s(now_s - self._begun_s)
        if now_s - self._passed_s < interval_s:
            return None
        self._passed_s = now_s
        return self.rest()

    def rest(self) -> TelemetrySample | None:
        """What still waits, as one sample."""
        waiting, self._waiting = self._waiting, []
        return _summed_up(waiting) if waiting else None


def _interval_s(age_s: float) -> float:
    return 0.0 if age_s < FULL_DETAIL_S else min(age_s * _SHARE_OF_AGE, LONGEST_INTERVAL_S)


def _summed_up(samples: Sequence[TelemetrySample]) -> TelemetrySample:
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
