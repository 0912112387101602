"""The directory of a run of many hours, written in seconds, for what reads it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import (
    CheckpointSaved,
    DataReady,
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    RunStarted,
    StepsDone,
    TrainerStarted,
    encode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.supervision.telemetry import SAMPLE_INTERVAL_S, SampleThinning, telemetry_line
from tests.fakes.readings import busy_sample

STEPS_INTERVAL_S = 0.05
"""Twenty reports a second: the most that a trainer sends."""
REPORTS_PER_EPOCH = 1_200
STEPS_PER_REPORT = 17
EXAMPLES_PER_STEP = 64


@dataclass(frozen=True, slots=True)
class LongRun:
    """How a run goes that began at a moment.

    Attributes:
        started_s: Seconds since the epoch (UTC).
    """

    started_s: float

    def opening(self) -> tuple[Event, ...]:
        """The events before the first step."""
        ready = DataReady(
            time_s=self.started_s,
            training_examples=REPORTS_PER_EPOCH * STEPS_PER_REPORT * EXAMPLES_PER_STEP,
            validation_examples=10_000,
            feature_shape=(28, 28),
            steps_per_epoch=REPORTS_PER_EPOCH * STEPS_PER_REPORT,
        )
        return (
            RunStarted(time_s=self.started_s, supervisor_pid=1),
            TrainerStarted(time_s=self.started_s, pid=2),
            PhaseChanged(time_s=self.started_s, phase=Phase.LOADING_DATA),
            ready,
            PhaseChanged(time_s=self.started_s, phase=Phase.TRAINING),
        )

    def steps(self, first: int, count: int) -> Iterator[str]:
        """The lines of so many reports, the first of them number ``first``, and of their epochs."""
        noise = random.Random(first)
        for number in range(first, first + count):
            yield self._steps_line(number, noise)
            if (number + 1) % REPORTS_PER_EPOCH == 0:
                yield from map(encode_event, self._end_of_epoch(number))

    def report(self, number: int, noise: random.Random) -> StepsDone:
        """One report of steps, counted from 0."""
        return StepsDone(
            time_s=self.started_s + (number + 1) * STEPS_INTERVAL_S,
            step=(number + 1) * STEPS_PER_REPORT,
            steps=STEPS_PER_REPORT,
            epoch=1 + number // REPORTS_PER_EPOCH,
            step_in_epoch=(1 + number % REPORTS_PER_EPOCH) * STEPS_PER_REPORT,
            examples=STEPS_PER_REPORT * EXAMPLES_PER_STEP,
            loss=2.0 / (1.0 + number / 50_000) + 0.2 * noise.random(),
            accuracy=noise.uniform(0.7, 0.99),
            examples_per_second=noise.uniform(19_000.0, 23_000.0),
        )

    def samples(self, inventory: DeviceInventory, hours: float) -> Iterator[str]:
        """The lines of telemetry that a supervisor keeps of so many hours."""
        thinning = SampleThinning()
        for number in range(int(hours * 3600.0 / SAMPLE_INTERVAL_S)):
            passed_s = number * SAMPLE_INTERVAL_S
            sample = busy_sample(inventory, self.started_s + passed_s)
            if (kept := thinning.take(sample, passed_s)) is not None:
                yield telemetry_line(kept)

    def _steps_line(self, number: int, noise: random.Random) -> str:
        # As encode_event writes it: a test holds the two together.
        time_s = self.started_s + (number + 1) * STEPS_INTERVAL_S
        loss = 2.0 / (1.0 + number / 50_000) + 0.2 * noise.random()
        return (
            f'{{"time_s":{time_s!r},"kind":"steps_done","step":{(number + 1) * STEPS_PER_REPORT},'
            f'"steps":{STEPS_PER_REPORT},"epoch":{1 + number // REPORTS_PER_EPOCH},'
            f'"step_in_epoch":{(1 + number % REPORTS_PER_EPOCH) * STEPS_PER_REPORT},'
            f'"examples":{STEPS_PER_REPORT * EXAMPLES_PER_STEP},"loss":{loss!r},'
            f'"accuracy":{noise.uniform(0.7, 0.99)!r},'
            f'"examples_per_second":{noise.uniform(19_000.0, 23_000.0)!r}}}'
        )

    def _end_of_epoch(self, number: int) -> tuple[Event, ...]:
        time_s = self.started_s + (number + 1) * STEPS_INTERVAL_S
        epoch, step = 1 + number // REPORTS_PER_EPOCH, (number + 1) * STEPS_PER_REPORT
        metrics = Metrics(
            loss=1.0 / epoch, accuracy=0.9, val_loss=1.1 / epoch + 0.1, val_accuracy=0.88
        )
        return (
            PhaseChanged(time_s=time_s, phase=Phase.VALIDATING),
            EpochDone(time_s=time_s, epoch=epoch, step=step, metrics=metrics, seconds=60.0),
            CheckpointSaved(
                time_s=time_s, path=f"checkpoints/{step}", epoch=epoch, step=step, seconds=0.5
            ),
            PhaseChanged(time_s=time_s, phase=Phase.TRAINING),
        )


def write_log(layout: RunLayout, megabytes: float) -> None:
    """A log of that size, as TensorFlow and a program that prints much leave it."""
    line = "2026-11-21 10:15:02.123456: I tensorflow/core/framework/local_rendezvous.cc:407] {}\n"
    with layout.trainer_log.open("a", encoding="utf-8") as file:
        file.writelines(line.format(number) for number in range(int(megabytes * 1e6 / len(line))))
