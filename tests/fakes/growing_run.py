"""A run whose files grow as those of a real one do, only faster: for what follows it for a day."""

import time
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import encode_event
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.telemetry import SAMPLE_INTERVAL_S, SampleThinning, telemetry_line
from tests.fakes.long_run import STEPS_INTERVAL_S, STEPS_PER_REPORT, LongRun
from tests.fakes.readings import EIGHT_DEVICES, busy_sample

STARTED_S = 1_790_000_000.0

_LOG_LINE = "2026-11-21 10:15:02.123456: I tensorflow/core/framework/rendezvous.cc:407] {}\n"


class EightDevices:
    """Stands for the devices of a machine that has eight of them."""

    def inventory(self) -> DeviceInventory:
        """All of them."""
        return EIGHT_DEVICES

    def sample(self) -> TelemetrySample:
        """What they do now."""
        return busy_sample(EIGHT_DEVICES, time.time())

    def wake(self) -> None:
        pass

    def stop_waiting(self) -> None:
        """They do not let wait."""

    def close(self) -> None:
        """Nothing is held."""


def _ignore(_sample: TelemetrySample) -> None:
    pass


class GrowingRun:
    """A run on eight devices that reports twenty times a second and ends an epoch a minute.

    Its devices are sampled twice a second. One that is to go on needs somebody who holds its lock.

    Args:
        runs_dir: Where its directory is made.
        sampled: Gets every sample of the devices; the run's files keep fewer.

    Attributes:
        layout: The run.
        reports: How many reports of steps were written.
        samples_a_line: How many times the devices are sampled until it prints a line.
    """

    def __init__(
        self, runs_dir: Path, sampled: Callable[[TelemetrySample], None] = _ignore
    ) -> None:
        self.layout = _created(runs_dir)
        self.reports = 0
        self.samples_a_line = 6
        self._sampled = sampled
        self._course = LongRun(STARTED_S)
        self._thinning = SampleThinning()
        self._samples = 0
        with self.layout.events.open("a", encoding="utf-8") as file:
            file.writelines(encode_event(event) + "\n" for event in self._course.opening())

    @property
    def age_s(self) -> float:
        """How long it has gone on."""
        return self.reports * STEPS_INTERVAL_S

    @property
    def step(self) -> int:
        """The last step that was written."""
        return self.reports * STEPS_PER_REPORT

    def grow(self, reports: int) -> None:
        """Write what the time of so many reports leaves in its files."""
        with self.layout.telemetry.open("a") as telemetry, self.layout.trainer_log.open("a") as log:
            while self._samples * SAMPLE_INTERVAL_S < self.age_s + reports * STEPS_INTERVAL_S:
                self._samples += 1
                passed_s = self._samples * SAMPLE_INTERVAL_S
                sample = busy_sample(EIGHT_DEVICES, STARTED_S + passed_s)
                self._sampled(sample)
                if (kept := self._thinning.take(sample, passed_s)) is not None:
                    telemetry.write(telemetry_line(kept) + "\n")
                if self._samples % self.samples_a_line == 0:
                    log.write(_LOG_LINE.format(self._samples))
        # The events last: whoever has read them finds the rest, too.
        with self.layout.events.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self._course.steps(self.reports, reports))
        self.reports += reports


def _created(runs_dir: Path) -> RunLayout:
    keys = tuple(device.key for device in EIGHT_DEVICES.devices if device.is_gpu)
    profile = Profile(
        name="a long run",
        devices=DeviceSettings(visible=keys),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        training=TrainingSettings(epochs=10_000, global_batch_size=64 * len(keys)),
    )
    plan = prepare(profile, EIGHT_DEVICES).plan
    assert plan is not None
    return create_run(profile, plan, runs_dir)
