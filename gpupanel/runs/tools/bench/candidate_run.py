"""One run of a candidate: started as any run, followed until its speed is known, ended."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

import psutil

from gpupanel.domain.events import PhaseChanged, RunEnded, RunStarted
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.planning.bench.candidates import PlannedCandidate
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.error_problems import process_problem
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_checked_run, start_supervisor
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.queue.running_runs import goes_on
from gpupanel.runs.readiness import check_devices_answer
from gpupanel.runs.tools.bench.speed_meter import STEPS, SpeedMeter

_SUPERVISOR: Final = "gpupanel.runs.tools.bench.supervisor"
_POLL_S: Final = 0.05
_SILENT_S: Final = 300.0
"""So long a run may say nothing before its first steps: XLA compiles, or data is read."""
_STEPS_S: Final = 120.0
"""So long after its first steps it must be done: what is measured is at most a third of that."""
_END_S: Final = 60.0
"""From the request until it is gone, with the memory of its GPUs."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run came to.

    Attributes:
        examples_per_second: ``None``: it was cancelled.
    """

    examples_per_second: float | None
    steps: int
    shares: tuple[int, ...]
    time_spent: TimeSpent | None


def measure(
    planned: PlannedCandidate,
    runs_dir: Path,
    cancelled: Event,
    on_doing: Callable[[str], None],
) -> Measured:
    """Let a candidate make its steps; whatever happens, no process of it is left.

    Args:
        planned: The candidate.
        runs_dir: Where its run is made, which stays there.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        on_doing: Called with what it does now.

    Raises:
        ProblemError: It could not start, failed, or made no steps in time.
    """
    check_devices_answer(planned.plan)
    layout, checked = create_checked_run(planned.profile, planned.plan, runs_dir)
    try:
        start_supervisor(layout, checked, _SUPERVISOR)
    except OSError as error:
        raise ProblemError(process_problem(error, layout.root)) from error
    try:
        followed = _Followed(layout, on_doing)
        followed.until_measured(cancelled)
        meter = followed.meter
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.root)) from error
    finally:
        _end(layout)
    speed = meter.examples_per_second
    if speed is None and not cancelled.is_set():
        raise ProblemError(followed.problem or _no_steps(meter))
    shares = meter.shares or planned.plan.shares
    return Measured(speed, meter.steps, shares, meter.time_spent)


class _Followed:
    """Follows a run.

    Attributes:
        meter: What was measured.
        problem: What ended it.
    """

    def __init__(self, layout: RunLayout, on_doing: Callable[[str], None]) -> None:
        self.meter = SpeedMeter()
        self.problem: Problem | None = None
        self._layout = layout
        self._on_doing = on_doing
        self._follower = RunFollower(layout)
        self._has_ended = False

    def until_measured(self, cancelled: Event) -> None:
        """Wait until its speed is known, it has ended, or it takes too long."""
        heard_s = time.monotonic()
        try:
            while not (cancelled.is_set() or self._has_ended or self.meter.is_done):
                has_begun = self.meter.has_begun
                has_news = self._take_news()
                now_s = time.monotonic()
                # Once it makes steps every one of them is news: the time is counted from the first.
                if has_news and not (has_begun and self.meter.has_begun):
                    heard_s = now_s
                if now_s - heard_s > (_STEPS_S if self.meter.has_begun else _SILENT_S):
                    return
                if not has_news and not goes_on(self._layout):
                    self._take_news()
                    return
                cancelled.wait(_POLL_S)
        finally:
            self._follower.close()

    def _take_news(self) -> bool:
        news = self._follower.poll()
        before = self.meter.steps
        for event in news.events:
            self.meter.take(event)
            if isinstance(event, PhaseChanged):
                self._on_doing(event.phase.replace("_", " "))
            elif isinstance(event, RunEnded):
                self._has_ended, self.problem = True, event.problem
        if self.meter.steps != before:
            self._on_doing(f"{self.meter.steps:,} steps measured")
        return bool(news.parts)


def _end(layout: RunLayout) -> None:
    """End a run at once, without saving, and see it gone."""
    with suppress(ProblemError):
        ask(layout, Request.END)
    end_s = time.monotonic() + _END_S
    while goes_on(layout) and not _has_ended(layout):
        if time.monotonic() > end_s:
            end_processes_of(layout)
            _kill_supervisor(layout)
            return
        time.sleep(_POLL_S)
    while is_supervised(layout) and time.monotonic() < end_s:
        time.sleep(_POLL_S)


def _has_ended(layout: RunLayout) -> bool:
    """Whether its supervisor has said its last word; it lets go of the run in an instant."""
    try:
        follower = RunFollower(layout)
        return any(isinstance(event, RunEnded) for event in follower.poll().events)
    except OSError:
        return True


def _kill_supervisor(layout: RunLayout) -> None:
    """One that does not answer: hung in a driver, or stopped."""
    with suppress(OSError, psutil.Error):
        events = RunFollower(layout).poll().events
        pids = {event.supervisor_pid for event in events if isinstance(event, RunStarted)}
        for pid in pids - {os.getpid()}:
            process = psutil.Process(pid)
            # A number may be another process's by now.
            if str(layout.root) in process.cmdline():
                process.kill()


def _no_steps(meter: SpeedMeter) -> Problem:
    made = "made too few steps to be measured" if meter.has_begun else "made no step"
    return Problem(
        code="bench_no_steps",
        message=f"The run {made} in time: {STEPS} are measured.",
        hint="Train with it once: what keeps it is reported there.",
    )
