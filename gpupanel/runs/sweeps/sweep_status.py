"""A sweep and its trials as people are shown them."""

from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import Field

from gpupanel.domain.number_text import short_number
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweptRange, SweptValue
from gpupanel.domain.value import Value
from gpupanel.planning.sweep_trials import sweep_of
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_sweep_profile
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepState, SweepTrial, TrialPruned, read_state


class TrialPhase(StrEnum):
    """The phase of a trial."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    """Suspended at a rung: it goes on when it is among the best there."""
    COMPLETED = "completed"
    PRUNED = "pruned"
    STOPPED = "stopped"
    SUSPENDED = "suspended"
    FAILED = "failed"
    LOST = "lost"
    NOT_STARTED = "not started"


_OPEN: Final = (TrialPhase.WAITING, TrialPhase.RUNNING, TrialPhase.PAUSED)


class SweepPhase(StrEnum):
    """The phase of a sweep."""

    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class TrialStatus(Value):
    """One trial.

    Attributes:
        values: What differs from the profile, by the settings' keys.
        run: The name of its run; ``None``: it has none yet.
        value: The best value of the metric; ``None`` until it has ended or was paused.
        epoch: When that was reached.
        pruned_after: The epoch after which it was found poor.
        reason: Why, in words that follow those; empty where it was not.
        problem: What ended it, or kept it from starting.
    """

    number: int
    state: TrialPhase
    values: dict[str, SweptValue]
    devices: tuple[str, ...] = ()
    run: str | None = None
    value: float | None = None
    epoch: int | None = None
    pruned_after: int | None = None
    reason: str = ""
    problem: Problem | None = None

    @property
    def state_text(self) -> str:
        """Its state in words: "pruned after epoch 2"."""
        after = self.pruned_after
        return str(self.state) if after is None else f"{self.state} after epoch {after:,}"


class SweepStatus(Value):
    """One sweep.

    Attributes:
        sweep: Its folder.
        trial_count: How many trials there will be at most.
        best: The number of the best trial so far; ``None``: none was measured.
        logarithmic: Of each setting that is tried over a range, whether by factors.
        trials: Those that were chosen so far, in order.
    """

    sweep: Path
    name: str
    state: SweepPhase
    metric: str
    more_is_better: bool
    trial_count: int
    best: int | None = None
    logarithmic: dict[str, bool] = Field(default_factory=dict)
    trials: tuple[TrialStatus, ...] = ()
    problem: Problem | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The settings that differ between trials, in the order of the profile."""
        return tuple(dict.fromkeys(key for trial in self.trials for key in trial.values))

    @property
    def ended_count(self) -> int:
        """How many trials have ended: none that waits, runs or is paused."""
        return sum(trial.state not in _OPEN for trial in self.trials)


def sweep_status(layout: SweepLayout) -> SweepStatus:
    """A sweep as its files have it.

    Raises:
        ProblemError: They cannot be read.
    """
    profile = read_sweep_profile(layout.profile)
    try:
        state = read_state(layout)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.record)) from error
    return _status(layout, profile, state)


def find_sweep(name: str, runs_dir: Path) -> SweepLayout | None:
    """The sweep of that name or folder; ``None``: it is something else, such as a profile."""
    for folder in (Path(name), runs_dir / SWEEPS / name):
        layout = SweepLayout(folder.absolute())
        if _is_sweep(layout):
            return layout
    return None


def list_sweeps(runs_dir: Path) -> tuple[SweepLayout, ...]:
    """The sweeps beside the runs of a folder, newest first.

    Raises:
        ProblemError: The folder cannot be read.
    """
    folder = runs_dir / SWEEPS
    try:
        found = [SweepLayout(each.absolute()) for each in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise ProblemError(disk_problem(error, folder)) from error
    there = [layout for layout in found if _is_sweep(layout)]
    return tuple(sorted(there, key=lambda layout: layout.root.name, reverse=True))


def _is_sweep(layout: SweepLayout) -> bool:
    try:
        return layout.profile.is_file()
    except OSError:
        return False  # a folder that may not be opened


def _status(layout: SweepLayout, profile: Profile, state: SweepState) -> SweepStatus:
    sweep = sweep_of(profile)
    trials = tuple(_trial(trial, state) for trial in state.trials)
    sign = -1.0 if sweep.more_is_better else 1.0
    measured = [(sign * trial.value, trial.number) for trial in trials if trial.value is not None]
    return SweepStatus(
        sweep=layout.root,
        name=profile.name,
        state=_phase(state),
        metric=sweep.metric,
        more_is_better=sweep.more_is_better,
        trial_count=len(trials) if state.begun is None else state.begun.trial_count,
        best=min(measured)[1] if measured else None,
        logarithmic={
            key: tried.log for key, tried in sweep.values.items() if isinstance(tried, SweptRange)
        },
        trials=trials,
        problem=None if state.ended is None else state.ended.problem,
    )


def _phase(state: SweepState) -> SweepPhase:
    if state.ended is None:
        return SweepPhase.IN_PROGRESS
    if state.ended.problem is not None:
        return SweepPhase.FAILED
    return SweepPhase.STOPPED if state.ended.stopped else SweepPhase.COMPLETED


def _trial(trial: SweepTrial, state: SweepState) -> TrialStatus:
    ended, paused = trial.ended, trial.paused
    value = None if paused is None else paused.value
    epoch = None if paused is None else paused.value_epoch
    return TrialStatus(
        number=trial.number,
        state=_trial_phase(trial, state),
        values=trial.values,
        devices=trial.devices,
        run=trial.run,
        value=value if ended is None else ended.value,
        epoch=epoch if ended is None else ended.epoch,
        pruned_after=None if trial.pruned is None else trial.pruned.epoch,
        reason="" if trial.pruned is None else _reason(trial.pruned),
        problem=None if ended is None else ended.problem,
    )


def _reason(pruned: TrialPruned) -> str:
    if pruned.median is not None:
        return f"worse than the median there, {short_number(pruned.median)}"
    place = f"number {pruned.rank:,} of {pruned.among:,} there"
    return f"{place}, of which {pruned.continued:,} continued"


def _trial_phase(trial: SweepTrial, state: SweepState) -> TrialPhase:
    if trial.is_paused and trial.ended is None:
        return TrialPhase.PAUSED if state.ended is None else TrialPhase.SUSPENDED
    if trial.ended is None:
        return TrialPhase.RUNNING if trial.is_started else TrialPhase.WAITING
    if trial.ended.outcome is None:
        return TrialPhase.NOT_STARTED
    if trial.pruned is not None and trial.ended.outcome in (Outcome.STOPPED, Outcome.SUSPENDED):
        return TrialPhase.PRUNED
    return TrialPhase(trial.ended.outcome.value)
