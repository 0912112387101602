"""What the rule of a sweep says of its trials, from its record and its runs' events."""

from collections.abc import Mapping

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.planning.successive_halving import (
    RungTrial,
    Standing,
    next_rung,
    standings,
    trial_to_continue,
)
from gpupanel.planning.sweep_pruning import PoorTrial, best_of, poor_trial
from gpupanel.planning.sweep_trials import sweep_of
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
        """The number of the paused trial that goes on now; ``None``: none does.

        Args:
            state: Of the sweep.
            is_last: No trial runs, and none is left to begin.
        """
        if not state.paused_trials:
            return None
        return trial_to_continue(self._rung_trials(state), self._sweep, is_last=is_last)

    def paused_standings(self, state: SweepState) -> Mapping[int, Standing]:
        """How each paused trial stands at its rung, by its number."""
        trials = self._rung_trials(state)
        epochs = {trial.number: trial.rung for trial in state.paused_trials}
        return {
            each.number: each
            for epoch in set(epochs.values())
            for each in standings(trials, epoch, self._sweep)
            if epochs.get(each.number) == epoch
        }

    def _best(self, values: Mapping[int, float]) -> Best | None:
        return best_of(values, more_is_better=self._sweep.more_is_better)

    def _epochs_of(self, trial: SweepTrial) -> int:
        epochs = trial.values.get("training.epochs")
        return epochs if isinstance(epochs, int) else self._epochs

    def _rung_trials(self, state: SweepState) -> tuple[RungTrial, ...]:
        paused = state.paused_trials
        return tuple(
            RungTrial(
                trial.number,
                self._values.of(trial),
                paused_after=trial.rung if trial in paused else 0,
                is_completed=trial.ended is not None and trial.ended.outcome is Outcome.COMPLETED,
            )
            for trial in state.trials
        )
