"""When a trial of a sweep is stopped before its end: the median rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from gpupanel.domain.sweep import SweepSettings

ByEpoch = Mapping[int, float]
"""The metric of a trial after each epoch, counted from 1."""


@dataclass(frozen=True, slots=True)
class PoorTrial:
    """Why a trial is stopped.

    Attributes:
        epoch: After which.
        best: Its best value until then.
        median: Of the other trials' values at that epoch.
    """

    epoch: int
    best: float
    median: float


def best_of(values: ByEpoch, *, more_is_better: bool) -> tuple[int, float] | None:
    """The epoch with the best value, the first of several, and that value; ``None``: no values."""
    if not values:
        return None
    sign = -1.0 if more_is_better else 1.0
    epoch = min(sorted(values), key=lambda each: sign * values[each])
    return epoch, values[epoch]


def mean_of_best(runs: Sequence[ByEpoch], *, more_is_better: bool) -> dict[int, float]:
    """The mean, over the runs of a trial, of the best values until each epoch.

    Args:
        runs: Of one trial; one without a value does not count until it has one.
        more_is_better: Greater values are better.
    """
    better = max if more_is_better else min
    bests: dict[int, float] = {}
    means = {}
    for epoch in sorted({epoch for values in runs for epoch in values}):
        for place, values in enumerate(runs):
            if epoch in values:
                bests[place] = better(values[epoch], bests.get(place, values[epoch]))
        means[epoch] = mean(bests.values())
    return means


def poor_trial(own: ByEpoch, others: Iterable[ByEpoch], sweep: SweepSettings) -> PoorTrial | None:
    """Whether a trial's best value so far is worse than the median of the others at its epoch.

    As Optuna's ``MedianPruner`` has it, but trials that go on count, too.

    Args:
        own: The trial's values so far.
        others: Of all other trials, ended or not.
        sweep: Says whether, and from which epoch and how many other trials on.
    """
    best = best_of(own, more_is_better=sweep.more_is_better)
    if not sweep.prune or sweep.halves or best is None:
        return None
    epoch = max(own)
    there = [other[epoch] for other in others if epoch in other]
    if epoch < sweep.prune_after_epochs or len(there) < sweep.prune_after_trials:
        return None
    middle = median(there)
    is_worse = best[1] < middle if sweep.more_is_better else best[1] > middle
    return PoorTrial(epoch, best[1], middle) if is_worse else None
