"""What the rule of a sweep says of its trials, from its record and its runs' events."""

from collections.abc import Mapping, Sequence

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.planning.successive_halving import (
    RungTrial,
    Standing,
    next_rung,
    standings,
    trial_to_continue,
)
from gpupanel.planning.sweep_pruning import PoorTrial, best_of, mean_of_best, poor_trial
from gpupanel.planning.sweep_trials import repeats_of, sweep_of
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepState, SweepTrial
from gpupanel.runs.sweeps.trial_values import TrialValues

Best = tuple[int, float]
"""An epoch and the value of the metric after it."""


class TrialRules:
    """Which trials are poor, paused and continued.

    Args:
        layout: The sweep.
        profile: With its ``[sweep]`` table.

    Raises:
        ProblemError: The profile has no sweep that can be started.
    """

    def __init__(self, layout: SweepLayout, profile: Profile) -> None:
        self._sweep = sweep_of(profile)
        self._epochs = profile.training.epochs
        self._size = len(repeats_of(profile))
        self._values = TrialValues(layout, self._sweep.metric)
        self._compared: dict[int, int] = {}

    def best_of(self, trial: SweepTrial) -> Best | None:
        """The best epoch of a trial so far; ``None``: none was measured."""
        return self._best(self._values.of(trial))

    def best_of_model(self, trial: SweepTrial) -> Best | None:
        """What its model is worth, where its epoch is known; else as :meth:`best_of`."""
        return self._best(self._values.of_model(trial))

    def newly_poor(self, trial: SweepTrial, state: SweepState) -> PoorTrial | None:
        """Whether a trial has turned out to be worse than the median of the others.

        Asked once for each epoch; at its end it is not stopped any more.
        """
        own = self._values.of(trial)
        epoch = max(own, default=0)
        is_known = epoch == self._compared.get(trial.number, 0)
        self._compared[trial.number] = epoch
        if is_known or epoch >= self._epochs_of(trial):
            return None
        others = [self._values.of(each) for each in state.trials if each != trial]
        return poor_trial(own, others, self._sweep)

    def rung_of(self, trial: SweepTrial) -> int | None:
        """The epoch after which a trial that goes on is paused; ``None``: none."""
        if not self._sweep.halves:
            return None
        return next_rung(self._epochs_of(trial), trial.rung, self._sweep)

    def epochs_past_rung(self, trial: SweepTrial) -> int | None:
        """How many epochs behind its rung a trial is, less than 0 before it; ``None``: no rung."""
        rung = self.rung_of(trial)
        return None if rung is None else max(self._values.of(trial), default=0) - rung

    def to_continue(self, state: SweepState, *, is_last: bool) -> int | None:
        """The number of the paused run that goes on now; ``None``: none does.

        Of a trial with several runs all go on, one after the other.

        Args:
            state: Of the sweep.
            is_last: No trial runs, and none is left to begin.
        """
        if not state.paused_trials:
            return None
        groups = state.groups(self._size)
        for runs in groups:
            furthest = max(map(_reached, runs))
            behind = (run for run in runs if _paused_after(run) and _reached(run) < furthest)
            if (first := next(behind, None)) is not None:
                return first.number
        trial = trial_to_continue(self._rung_trials(state), self._sweep, is_last=is_last)
        if trial is None:
            return None
        return next(run.number for run in groups[trial - 1] if _paused_after(run))

    def paused_standings(self, state: SweepState) -> Mapping[int, Standing]:
        """How the trial of each paused run stands at its rung, by the run's number."""
        trials = self._rung_trials(state)
        epochs = {run.rung for run in state.paused_trials}
        places = {
            (each.number, epoch): each
            for epoch in epochs
            for each in standings(trials, epoch, self._sweep)
        }
        found = {
            run.number: places.get(((run.number - 1) // self._size + 1, run.rung))
            for run in state.paused_trials
        }
        return {number: each for number, each in found.items() if each is not None}

    def _best(self, values: Mapping[int, float]) -> Best | None:
        return best_of(values, more_is_better=self._sweep.more_is_better)

    def _epochs_of(self, trial: SweepTrial) -> int:
        epochs = trial.values.get("training.epochs")
        return epochs if isinstance(epochs, int) else self._epochs

    def _rung_trials(self, state: SweepState) -> tuple[RungTrial, ...]:
        """Each trial as the mean of its runs; paused where all are that have not ended."""
        return tuple(
            self._rung_trial(number, runs)
            for number, runs in enumerate(state.groups(self._size), 1)
        )

    def _rung_trial(self, number: int, runs: Sequence[SweepTrial]) -> RungTrial:
        if len(runs) < self._size:
            return RungTrial(number, {})
        values = [self._values.of(run) for run in runs]
        going = zip(runs, values, strict=True)
        until = [max(each, default=0) for run, each in going if run.ended is None]
        means = mean_of_best(values, more_is_better=self._sweep.more_is_better)
        known = {epoch: mean for epoch, mean in means.items() if epoch <= min(until, default=epoch)}
        return RungTrial(number, known, _rung_of_all(runs), all(map(_is_completed, runs)))


def _is_completed(run: SweepTrial) -> bool:
    return run.ended is not None and run.ended.outcome is Outcome.COMPLETED


def _paused_after(run: SweepTrial) -> int:
    """The rung at which a run is paused; 0: it waits, goes on or has ended."""
    return run.rung if run.is_paused and run.ended is None else 0


def _reached(run: SweepTrial) -> float:
    """How far a run is: its last rung, and beyond it where it goes on or has completed."""
    stays = run.is_paused if run.ended is None else not _is_completed(run)
    return run.rung + (0.0 if stays else 0.5)


def _rung_of_all(runs: Sequence[SweepTrial]) -> int:
    """The rung at which all runs are paused that have not ended; 0: some are not."""
    rungs = {_paused_after(run) for run in runs if run.ended is None}
    return rungs.pop() if len(rungs) == 1 else 0
