"""A run's directory written by the test itself, for tests of what follows a run."""

from pathlib import Path
from types import TracebackType
from typing import Self

from gpupanel.domain.events import (
    DataReady,
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    RunEnded,
    RunStarted,
    StepsDone,
    TrainerStarted,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY

STARTED_S = 1_790_000_000.0


class WrittenRun:
    """A run that goes on as long as the ``with`` block, since the lock is held in it."""

    def __init__(self, runs_dir: Path, profile: Profile | None = None) -> None:
        profile = profile or Profile(name="written")
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        self.layout = create_run(profile, plan, runs_dir)
        self._time_s = STARTED_S
        self._step = 0
        self._release = None

    def __enter__(self) -> Self:
        self._release = hold_run_lock(self.layout).release
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.vanish()

    def vanish(self) -> None:
        """Let go of the lock, as a supervisor that was killed does."""
        if self._release is not None:
            self._release()
            self._release = None

    def write(self, *events: Event) -> None:
        with self.layout.events.open("a", encoding="utf-8") as file:
            file.writelines(encode_event(event) + "\n" for event in events)

    def print(self, text: str) -> None:
        with self.layout.trainer_log.open("a", encoding="utf-8") as file:
            file.write(text)

    def sample(self, sample: TelemetrySample) -> None:
        with self.layout.telemetry.open("a", encoding="utf-8") as file:
            file.write(sample.model_dump_json() + "\n")

    def begin(self, phase: Phase = Phase.TRAINING) -> None:
        """The events up to that phase."""
        self.write(RunStarted(time_s=STARTED_S, supervisor_pid=1))
        self.write(TrainerStarted(time_s=STARTED_S + 0.1, pid=2))
        for each in Phase:
            if each is Phase.TRAINING:
                self.write(
                    DataReady(
                        time_s=STARTED_S + 1,
                        training_examples=640,
                        validation_examples=64,
                        feature_shape=(8, 8),
                        steps_per_epoch=10,
                    )
                )
            self.write(PhaseChanged(time_s=STARTED_S + 1, phase=each))
            if each is phase:
                return

    def step(self, count: int = 1) -> None:
        """So many steps, an event each, a tenth of a second apart."""
        for _ in range(count):
            self._step += 1
            self._time_s += 0.1
            self.write(
                StepsDone(
                    time_s=self._time_s + 2,
                    step=self._step,
                    steps=1,
                    epoch=1 + (self._step - 1) // 10,
                    step_in_epoch=1 + (self._step - 1) % 10,
                    examples=64,
                    loss=2.0 / self._step,
                    accuracy=0.5,
                    examples_per_second=640.0,
                )
            )

    def end(self, outcome: Outcome = Outcome.COMPLETED, problem: Problem | None = None) -> None:
        metrics = Metrics(loss=0.1, accuracy=0.97, val_loss=0.2, val_accuracy=0.95)
        self.write(
            EpochDone(time_s=self._time_s, epoch=1, step=self._step, metrics=metrics, seconds=1.0),
            RunEnded(
                time_s=self._time_s + 3,
                outcome=outcome,
                metrics=metrics,
                examples_per_second=1234.0,
                problem=problem,
                log_tail=("the last line",),
            ),
        )
        self.vanish()
