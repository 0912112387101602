"""A trial of a sweep as people are shown it: its only run, or what several came to together."""

from collections.abc import Sequence
from enum import StrEnum
from statistics import mean, stdev
from typing import Final

from gpupanel.domain.number_text import short_number
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.sweep import SweptValue
from gpupanel.domain.value import Value
from gpupanel.runs.sweeps.sweep_record import SweepState, SweepTrial, TrialPruned


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
_MOST_SAID: Final = (
    TrialPhase.RUNNING,
    TrialPhase.WAITING,
    TrialPhase.PAUSED,
    TrialPhase.FAILED,
    TrialPhase.LOST,
    TrialPhase.NOT_STARTED,
    TrialPhase.STOPPED,
    TrialPhase.SUSPENDED,
    TrialPhase.PRUNED,
    TrialPhase.COMPLETED,
)
"""Of the states of several runs, that of the trial is the first one here."""


class TrialRun(Value):
    """One run of a trial that has several.

    Attributes:
        values: What differs from the trial's other runs, by the settings' keys.
        run: Its name; ``None``: there is none yet.
        value: As :attr:`TrialStatus.value`.
        epoch: When that was reached.
    """

    values: dict[str, SweptValue]
    state: TrialPhase
    run: str | None = None
    value: float | None = None
    epoch: int | None = None


class TrialStatus(Value):
    """One trial.

    Attributes:
        values: What differs from the profile, by the settings' keys.
        run: The name of its run, of several the first; ``None``: it has none yet.
        value: The best value of the metric, of several runs the mean; ``None`` until one has ended
            or was paused.
        spread: The standard deviation of these, by their number less one; ``None``: fewer than two.
        measured: How many these are.
        runs: Where there are several.
        epoch: When the value was reached; ``None`` of several runs.
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
    spread: float | None = None
    measured: int = 0
    runs: tuple[TrialRun, ...] = ()
    epoch: int | None = None
    pruned_after: int | None = None
    reason: str = ""
    problem: Problem | None = None

    @property
    def state_text(self) -> str:
        """Its state in words: "pruned after epoch 2"."""
        after = self.pruned_after
        return str(self.state) if after is None else f"{self.state} after epoch {after:,}"

    @property
    def is_open(self) -> bool:
        """Whether it waits, runs or is paused."""
        return self.state in _OPEN


def trial_status(
    number: int, runs: Sequence[SweepTrial], state: SweepState, repeated: Sequence[str], size: int
) -> TrialStatus:
    """What the record says of a trial.

    Args:
        number: Of the trial.
        runs: That have begun.
        state: Of the sweep.
        repeated: The keys of the settings in which its runs differ.
        size: How many runs it has in the end.
    """
    each = [_only_run(run, state) for run in runs]
    if size == 1:
        return each[0]
    first = each[0]
    found = [run.value for run in each if run.value is not None]
    state_of_all = min((run.state for run in each), key=_MOST_SAID.index)
    if len(each) < size and state.ended is None and state_of_all not in _OPEN:
        state_of_all = TrialPhase.WAITING
    pruned = None
    if state_of_all is TrialPhase.PRUNED:
        pruned = next(run for run in each if run.state is TrialPhase.PRUNED)
    return TrialStatus(
        number=number,
        state=state_of_all,
        values={key: value for key, value in first.values.items() if key not in repeated},
        run=first.run,
        value=mean(found) if found else None,
        spread=stdev(found) if len(found) > 1 else None,
        measured=len(found),
        runs=tuple(
            TrialRun(
                values={key: run.values[key] for key in repeated if key in run.values},
                state=run.state,
                run=run.run,
                value=run.value,
                epoch=run.epoch,
            )
            for run in each
        ),
        pruned_after=None if pruned is None else pruned.pruned_after,
        reason="" if pruned is None else pruned.reason,
        problem=next((run.problem for run in each if run.problem is not None), None),
    )


def _only_run(trial: SweepTrial, state: SweepState) -> TrialStatus:
    ended, paused = trial.ended, trial.paused
    value = None if paused is None else paused.value
    epoch = None if paused is None else paused.value_epoch
    value = value if ended is None else ended.value
    return TrialStatus(
        number=trial.number,
        state=_phase_of_run(trial, state),
        values=trial.values,
        devices=trial.devices,
        run=trial.run,
        value=value,
        measured=int(value is not None),
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


def _phase_of_run(trial: SweepTrial, state: SweepState) -> TrialPhase:
    if trial.is_paused and trial.ended is None:
        return TrialPhase.PAUSED if state.ended is None else TrialPhase.SUSPENDED
    if trial.ended is None:
        return TrialPhase.RUNNING if trial.is_started else TrialPhase.WAITING
    if trial.ended.outcome is None:
        return TrialPhase.NOT_STARTED
    if trial.pruned is not None and trial.ended.outcome in (Outcome.STOPPED, Outcome.SUSPENDED):
        return TrialPhase.PRUNED
    return TrialPhase(trial.ended.outcome.value)
