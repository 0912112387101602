"""Which trials of a sweep go on, and how far: asynchronous successive halving (ASHA).

Each trial is paused at rungs, which are epochs: the first one, then each time so many times as
late. Whenever a device is free, the best paused trial of the highest rung goes on that is within
the top part of all that have reached that rung; where there is none, a new trial begins. Nobody
waits until a rung is full. (Li et al., A System for Massively Parallel Hyperparameter Tuning,
2018.)
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.domain.sweep import SweepSettings
from gpupanel.planning.sweep_pruning import ByEpoch, best_of


@dataclass(frozen=True, slots=True)
class RungTrial:
    """A trial as the rule sees it.

    Attributes:
        number: Of the trial.
        values: The metric after each epoch so far.
        paused_after: The rung at which it is paused; 0: it waits, goes on or has ended.
        is_completed: It has come to its end, be it by early stopping.
    """

    number: int
    values: ByEpoch
    paused_after: int = 0
    is_completed: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A trial among those that have reached a rung.

    Attributes:
        number: Of the trial.
        epoch: The rung.
        best: Its best value until then.
        rank: From 1, the best one.
        among: How many trials have reached the rung.
        continued: How many of them are good enough to go on.
    """

    number: int
    epoch: int
    best: float
    rank: int
    among: int
    continued: int


def next_rung(epochs: int, after: int, sweep: SweepSettings) -> int | None:
    """Where a trial is paused next; ``None``: it goes on to its end.

    Args:
        epochs: Of the trial when nothing ends it early.
        after: The rung at which it was paused before; 0: none.
        sweep: Has the rungs.
    """
    rungs = (sweep.first_rung * sweep.reduction_factor**place for place in itertools.count())
    rung = next(rung for rung in rungs if rung > after)
    return rung if rung < epochs else None


def standings(
    trials: Sequence[RungTrial], epoch: int, sweep: SweepSettings
) -> tuple[Standing, ...]:
    """The trials that have reached a rung, the best first; of equal ones the earlier.

    Args:
        trials: All that have begun.
        epoch: The rung.
        sweep: Says which values are better.
    """
    sign = -1.0 if sweep.more_is_better else 1.0
    found = []
    for trial in trials:
        if not trial.is_completed and max(trial.values, default=0) < epoch:
            continue
        until = {each: value for each, value in trial.values.items() if each <= epoch}
        best = best_of(until, more_is_better=sweep.more_is_better)
        if best is not None:
            found.append((sign * best[1], trial.number, best[1]))
    among, continued = len(found), len(found) // sweep.reduction_factor
    return tuple(
        Standing(number, epoch, best, rank, among, continued)
        for rank, (_, number, best) in enumerate(sorted(found), 1)
    )


def trial_to_continue(
    trials: Sequence[RungTrial], sweep: SweepSettings, *, is_last: bool = False
) -> int | None:
    """The number of the paused trial that goes on now; ``None``: none does.

    Args:
        trials: All that have begun.
        sweep: Has the rungs, and says which values are better.
        is_last: No trial runs, and none is left to begin. Where none has completed, the best one
            of the highest rung goes on, too: a short sweep would else train nothing to its end.
    """
    paused = {trial.number: trial.paused_after for trial in trials if trial.paused_after}
    takes_any = is_last and not any(trial.is_completed for trial in trials)
    for epoch in sorted(set(paused.values()), reverse=True):
        for each in standings(trials, epoch, sweep):
            if paused.get(each.number) == epoch and (takes_any or each.rank <= each.continued):
                return each.number
    return None
