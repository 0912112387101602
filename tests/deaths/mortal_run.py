"""A real run that is killed again and again, and goes on each time."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from gpupanel.domain.events import (
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    RunStarted,
    SharesChosen,
    TrainerStarted,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import launch, resume, resume_problem
from tests.fakes.devices import CPU_ONLY

_LONGEST_S = 240.0
_LOOK_S = 0.02

Weights = dict[str, NDArray[np.generic]]


def until(seen: Callable[[], bool], what: str, longest_s: float = _LONGEST_S) -> float:
    """Wait until something is seen; gives the seconds that it took."""
    start_s = time.monotonic()
    while not seen():
        took_s = time.monotonic() - start_s
        assert took_s < longest_s, f"{what}: not within {longest_s:.0f} s"
        time.sleep(_LOOK_S)
    return time.monotonic() - start_s


@dataclass
class Deaths:
    """What was killed, and how long it took until the run was known to have ended.

    Attributes:
        ended_s: Seconds from each kill to the run's end, no process of it left.
        phases: What the run had turned to last, when something of it was killed.
    """

    trainers: int = 0
    supervisors: int = 0
    within_a_checkpoint: int = 0
    before_the_first_checkpoint: int = 0
    ended_s: list[float] = field(default_factory=list)
    phases: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        """All of them."""
        return self.trainers + self.supervisors

    def __str__(self) -> str:
        return (
            f"{self.kills} kills ({self.trainers} of a trainer, {self.supervisors} of a "
            f"supervisor; {self.within_a_checkpoint} within a checkpoint's writing, "
            f"{self.before_the_first_checkpoint} before the first one; "
            f"{', '.join(f'{phase} {count}' for phase, count in self.phases.items())}); "
            f"the end was known after {max(self.ended_s, default=0.0):.2f} s at the most"
        )


class MortalRun:
    """Starts a run, kills what belongs to it, and lets it go on.

    Args:
        profile: What is trained.
        runs_dir: Where.
        dice: Decide when and what is killed.
    """

    def __init__(self, profile: Profile, runs_dir: Path, dice: random.Random) -> None:
        plan = plan_of(profile)
        self._profile, self._plan, self._runs_dir = profile, plan, runs_dir
        self._dice = dice
        self.deaths = Deaths()
        self.layout = launch(profile, plan, runs_dir)

    def kill_a_trainer(self, within_s: float) -> None:
        """Kill a process that trains, at a random moment from now on; the run ends as lost."""
        self._wait_for_processes()
        self._wait(within_s)
        trainers = self._trainers()
        if not trainers:
            return  # it came to its end before
        self._note_moment()
        self._kill(self._dice.choice(trainers))
        self.deaths.trainers += 1
        self._see_it_end(lost=True)

    def kill_the_supervisor(self, within_s: float) -> None:
        """Kill the supervisor at a random moment; its trainers save and end by themselves."""
        self._wait_for_processes()
        self._wait(within_s)
        supervisor = self._supervisor()
        if supervisor is None:
            return
        self._note_moment()
        self._kill(supervisor)
        self.deaths.supervisors += 1
        self._see_it_end(lost=False)

    def kill_within_a_checkpoint(self) -> None:
        """Kill the process that writes while a checkpoint is half written."""
        partial = until_some(lambda: self._partial_checkpoints() or self._is_over())
        trainers = self._trainers()
        if not partial or not trainers:
            return
        self._note_moment()
        self._kill(trainers[0])
        self.deaths.trainers += 1
        self._see_it_end(lost=True)

    def kill_in_phase(self, phase: Phase) -> None:
        """Kill a process that trains as soon as the run has turned to this from now on."""
        before = self._turns_to(phase)
        until_some(lambda: self._turns_to(phase) > before or self._is_over())
        trainers = self._trainers()
        if not trainers:
            return
        self._note_moment()
        self._kill(self._dice.choice(trainers))
        self.deaths.trainers += 1
        self._see_it_end(lost=True)

    def go_on(self) -> None:
        """Resume the run; where it has saved nothing yet, its profile is started again."""
        summary = summarize_run(self.layout)
        if summary.outcome is Outcome.COMPLETED:
            return
        problem = resume_problem(self.layout)
        if problem is None:
            resume(self.layout)
        else:
            assert problem.code == "nothing_to_resume", problem
            self.deaths.before_the_first_checkpoint += 1
            self.layout = launch(self._profile, self._plan, self._runs_dir)

    def come_to_its_end(self) -> None:
        """Wait until the run has completed."""
        until(self._is_over, f"the end of {self.layout.name}")
        summary = summarize_run(self.layout)
        assert summary.outcome is Outcome.COMPLETED, summary.problem
        assert not self._left_over()

    def end(self) -> None:
        """Leave nothing behind, whatever the test came to."""
        for process in (*self._processes(), *filter(None, [self._supervisor()])):
            with suppress(psutil.Error):
                process.kill()
        until(lambda: not self._left_over(), "the last process", 20.0)

    def weights(self) -> Weights:
        """Every variable of model and optimizer in the newest checkpoint."""
        return saved_weights(self.layout)

    def epochs(self) -> dict[int, Metrics]:
        """What each epoch reached, the last word of each."""
        return {
            event.epoch: event.metrics for event in self._events() if isinstance(event, EpochDone)
        }

    def shares_from(self) -> dict[int, tuple[int, ...]]:
        """Which shares the steps had that count, by the first step of each.

        What was trained after a checkpoint from which the run was resumed was forgotten.
        """
        taken: dict[int, tuple[int, ...]] = {}
        for event in self._events():
            if isinstance(event, SharesChosen):
                taken = {step: shares for step, shares in taken.items() if step < event.step}
                taken[event.step] = event.shares
        return taken

    def _turns_to(self, phase: Phase) -> int:
        """How often it has; asked so often that events are not decoded for it."""
        if not self.layout.events.exists():
            return 0
        return self.layout.events.read_bytes().count(f'"phase":"{phase}"'.encode())

    def _events(self) -> Iterator[Event]:
        follower = RunFollower(self.layout)
        while not (followed := follower.poll()).is_empty:
            yield from followed.events

    def _started(self) -> tuple[RunStarted | None, list[TrainerStarted]]:
        """The supervisor and the trainers of the last start."""
        supervisor, trainers = None, []
        for event in self._events():
            if isinstance(event, RunStarted):
                supervisor, trainers = event, []
            elif isinstance(event, TrainerStarted):
                trainers.append(event)
        return supervisor, trainers

    def _supervisor(self) -> psutil.Process | None:
        started, _ = self._started()
        if started is None or not is_supervised(self.layout):
            return None
        return _alive(started.supervisor_pid)

    def _trainers(self) -> list[psutil.Process]:
        return [process for one in self._started()[1] if (process := _alive(one.pid)) is not None]

    def _processes(self) -> list[psutil.Process]:
        """Whatever has the run's directory among its words."""
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(self.layout.root) in (process.info["cmdline"] or ())
            and process.status() != psutil.STATUS_ZOMBIE
        ]

    def _left_over(self) -> bool:
        try:
            return bool(self._processes() or self._trainers())
        except psutil.Error:
            return True  # it went while it was looked at

    def _is_over(self) -> bool:
        if is_supervised(self.layout):  # is asked often: its events need not be read
            return False
        return not summarize_run(self.layout).is_running and not self._left_over()

    def _partial_checkpoints(self) -> bool:
        return any(self.layout.checkpoints.glob(".*.partial"))

    def wait_for_an_epoch(self) -> None:
        """Wait until the processes of now have trained one."""
        before = self._epochs_done()
        until(lambda: self._epochs_done() > before or self._is_over(), "an epoch")

    def _epochs_done(self) -> int:
        return sum(isinstance(event, EpochDone) for event in self._events())

    def _wait_for_processes(self) -> None:
        until(lambda: self._is_over() or bool(self._trainers()), "the first process")

    def _wait(self, within_s: float) -> None:
        moment_s = time.monotonic() + self._dice.uniform(0.0, within_s)
        while time.monotonic() < moment_s and not self._is_over():
            time.sleep(_LOOK_S)

    def _note_moment(self) -> None:
        self.deaths.within_a_checkpoint += self._partial_checkpoints()

    @staticmethod
    def _kill(process: psutil.Process) -> None:
        with suppress(psutil.NoSuchProcess):
            process.kill()

    def _see_it_end(self, *, lost: bool) -> None:
        took_s = until(self._is_over, "the end after a kill", 150.0)
        self.deaths.ended_s.append(took_s)
        turned = [event.phase for event in self._events() if isinstance(event, PhaseChanged)]
        self.deaths.phases[str(turned[-1]) if turned else "no phase"] += 1
        summary = summarize_run(self.layout)
        if lost and summary.outcome is not Outcome.COMPLETED:
            assert summary.outcome in (Outcome.LOST, Outcome.FAILED), summary
            assert summary.problem is not None
            assert "SIGKILL" in summary.problem.message, summary.problem


def plan_of(profile: Profile) -> LaunchPlan:
    """That of a machine without GPUs."""
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


def saved_weights(layout: RunLayout) -> Weights:
    """Every variable of model and optimizer in the newest checkpoint."""
    newest = max(layout.checkpoints.glob("step-*"))
    with np.load(newest / "state.npz") as state:
        return {name: state[name] for name in state}


def until_some(seen: Callable[[], bool]) -> bool:
    """Wait for it; whether it came at all."""
    start_s = time.monotonic()
    while not (found := seen()) and time.monotonic() - start_s < _LONGEST_S:
        time.sleep(0.001)
    return found


def _alive(pid: int) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process
    except psutil.NoSuchProcess:
        return None
