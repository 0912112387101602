"""How much better the best trial of a sweep is by successive halving than by the median rule.

Run with ``python tests/benchmarks/bench_sweep_rules.py``. Nothing is trained: the learning curves
are power laws with noise that cross, as those of learning rates do, and both rules are the
product's own. Regret is by how much the best trial that was trained to its end within a budget of
epochs is worse than the best of all trials. Fails where that of successive halving is over 0.3 of
that of the median rule at six full trainings.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gpupanel.domain.sweep import StoppingRule, SweepSettings
from gpupanel.planning.successive_halving import RungTrial, next_rung, trial_to_continue
from gpupanel.planning.sweep_pruning import poor_trial

EPOCHS = 27
TRIALS = 81
BUDGETS = (3, 6, 12)
JUDGED_BUDGET = 6
TARGET = 0.3

MEDIAN = SweepSettings()
HALVING = SweepSettings(stopping_rule=StoppingRule.SUCCESSIVE_HALVING)
Curves = np.ndarray
"""Losses of shape trials x epochs."""
Best = float | None
"""The least last loss of the trials that were trained to their end; ``None``: none was."""


def curves_of(seed: int) -> Curves:
    """A sweep of learning rates: where the loss ends, and how fast it falls, are not the same."""
    random = np.random.default_rng(seed)
    rates = random.uniform(-4.0, 0.0, TRIALS)
    final = 0.05 + 0.25 * (rates + 2.0) ** 2 + random.uniform(0.0, 0.15, TRIALS)
    rising = 0.25 + 0.25 * (rates + 4.0) / 4.0 * random.uniform(0.5, 1.5, TRIALS)
    speed = np.clip(rising, 0.1, 1.2)
    epochs = np.arange(1, EPOCHS + 1)
    falling = 1.5 * epochs[None] ** -speed[:, None]
    return final[:, None] + falling + random.normal(0.0, 0.02, (TRIALS, EPOCHS))


def without_rule(curves: Curves, budget: int) -> Best:
    """Each trial to its end, as many as the budget has room for."""
    ends = curves[: budget // EPOCHS, -1]
    return float(ends.min()) if len(ends) else None


def by_median(curves: Curves, budget: int) -> Best:
    """One trial after the other, each stopped after the epoch at which the rule finds it poor."""
    done: list[dict[int, float]] = []
    used, ends = 0, []
    for losses in curves:
        values: dict[int, float] = {}
        for epoch, loss in enumerate(losses, 1):
            if used == budget:
                return min(ends, default=None)
            used += 1
            values[epoch] = float(loss)
            if epoch < EPOCHS and poor_trial(values, done, MEDIAN) is not None:
                break
        else:
            ends.append(values[EPOCHS])
        done.append(values)
    return min(ends, default=None)


def by_halving(curves: Curves, budget: int) -> Best:
    """One device: the trial that the rule continues, else a new one, up to its next rung."""
    trials: list[RungTrial] = []
    used = 0
    while True:
        number = trial_to_continue(trials, HALVING, is_last=len(trials) == TRIALS)
        if number is None and len(trials) == TRIALS:
            break
        if number is None:
            number = len(trials) + 1
            trials.append(RungTrial(number, {}))
        before = trials[number - 1]
        rung = next_rung(EPOCHS, before.paused_after, HALVING)
        until = rung or EPOCHS
        if used + until - before.paused_after > budget:
            break
        used += until - before.paused_after
        values = {epoch: float(curves[number - 1, epoch - 1]) for epoch in range(1, until + 1)}
        trials[number - 1] = RungTrial(number, values, rung or 0, is_completed=rung is None)
    return min((each.values[EPOCHS] for each in trials if each.is_completed), default=None)


RULES: dict[str, Callable[[Curves, int], Best]] = {
    "no rule": without_rule,
    "median": by_median,
    "successive halving": by_halving,
}


def regrets(budget: int, sweeps: int) -> dict[str, np.ndarray]:
    """The regret of each rule in each sweep; not a number where no trial came to its end."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for seed in range(sweeps):
        curves = curves_of(seed)
        for name, rule in RULES.items():
            best = rule(curves, budget)
            found[name].append(np.nan if best is None else best - float(curves[:, -1].min()))
    return {name: np.array(each) for name, each in found.items()}


def main() -> int:
    """Print the regret of each rule at each budget; the status says whether halving is enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=200)
    sweeps = parser.parse_args().sweeps
    judged = float("nan")
    print(f"mean regret of {sweeps} sweeps of {TRIALS} trials with {EPOCHS} epochs each")
    for budget in BUDGETS:
        found = regrets(budget * EPOCHS, sweeps)
        means = {name: float(np.nanmean(each)) for name, each in found.items()}
        words = ", ".join(
            f"{name} {means[name]:.3f} ({np.isfinite(each).sum()} with a result)"
            for name, each in found.items()
        )
        share = means["successive halving"] / means["median"]
        print(f"{budget:3d} full trainings: {words}; halving is {share:.2f} of the median rule's")
        if budget == JUDGED_BUDGET:
            judged = share
    is_enough = judged <= TARGET
    verdict = "" if is_enough else "not "
    print(f"at {JUDGED_BUDGET} full trainings {judged:.2f}: {verdict}at most {TARGET}")
    return 0 if is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
