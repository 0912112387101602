"""A sweep and its trials as people are shown them."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweptRange
from gpupanel.domain.value import Value
from gpupanel.planning.sweep_trials import repeats_of, sweep_of
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_sweep_profile
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepState, read_state
from gpupanel.runs.sweeps.trial_status import TrialStatus, trial_status


class SweepPhase(StrEnum):
    """The phase of a sweep."""

    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class SweepStatus(Value):
    """One sweep.

    Attributes:
        sweep: Its folder.
        trial_count: How many trials there will be at most.
        runs_each: How many runs each of them has.
        best: The number of the best trial so far, of those with most runs that were measured;
            ``None``: none was.
        logarithmic: Of each setting that is tried over a range, whether by factors.
        trials: Those that were chosen so far, in order.
    """

    sweep: Path
    name: str
    state: SweepPhase
    metric: str
    more_is_better: bool
    trial_count: int
    runs_each: int = 1
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
        return sum(not trial.is_open for trial in self.trials)

    @property
    def has_repeats(self) -> bool:
        """Whether each trial has several runs."""
        return self.runs_each > 1


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
    sweep, repeats = sweep_of(profile), repeats_of(profile)
    size = len(repeats)
    trials = tuple(
        trial_status(number, runs, state, tuple(repeats[0]), size)
        for number, runs in enumerate(state.groups(size), 1)
    )
    return SweepStatus(
        sweep=layout.root,
        name=profile.name,
        state=_phase(state),
        metric=sweep.metric,
        more_is_better=sweep.more_is_better,
        trial_count=len(trials) if state.begun is None else state.begun.trial_count,
        runs_each=size,
        best=_best(trials, more_is_better=sweep.more_is_better),
        logarithmic={
            key: tried.log for key, tried in sweep.values.items() if isinstance(tried, SweptRange)
        },
        trials=trials,
        problem=None if state.ended is None else state.ended.problem,
    )


def _best(trials: Sequence[TrialStatus], *, more_is_better: bool) -> int | None:
    sign = -1.0 if more_is_better else 1.0
    most = max((trial.measured for trial in trials), default=0)
    found = [
        (sign * trial.value, trial.number)
        for trial in trials
        if trial.value is not None and trial.measured == most
    ]
    return min(found)[1] if found else None


def _phase(state: SweepState) -> SweepPhase:
    if state.ended is None:
        return SweepPhase.IN_PROGRESS
    if state.ended.problem is not None:
        return SweepPhase.FAILED
    return SweepPhase.STOPPED if state.ended.stopped else SweepPhase.COMPLETED
