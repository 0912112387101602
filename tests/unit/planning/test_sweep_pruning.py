"""The median rule, by hand."""

import pytest

from gpupanel.domain.sweep import SweepDirection, SweepSettings
from gpupanel.planning.sweep_pruning import PoorTrial, best_of, mean_of_best, poor_trial

RULE = SweepSettings(prune_after_trials=3, prune_after_epochs=2)
OTHERS = ({1: 0.9, 2: 0.5, 3: 0.4}, {1: 0.9, 2: 0.6}, {1: 0.9, 2: 0.7})


def test_that_a_trial_that_is_worse_than_the_median_at_its_epoch_is_poor() -> None:
    assert poor_trial({1: 0.9, 2: 0.8}, OTHERS, RULE) == PoorTrial(2, 0.8, 0.6)


def test_that_its_best_value_so_far_counts() -> None:
    assert poor_trial({1: 0.6, 2: 0.8}, OTHERS, RULE) is None


def test_that_greater_is_better_where_the_sweep_says_so() -> None:
    rule = RULE.model_copy(update={"direction": SweepDirection.MAXIMIZE})
    assert poor_trial({2: 0.8}, OTHERS, rule) is None
    assert poor_trial({2: 0.55}, OTHERS, rule) == PoorTrial(2, 0.55, 0.6)


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        ({}, RULE),
        ({1: 2.0}, RULE),  # before the epoch
        ({3: 2.0}, RULE),  # only one other was there
        ({2: 2.0}, RULE.model_copy(update={"prune": False})),
    ],
)
def test_that_nothing_is_pruned_too_early_or_unasked(
    own: dict[int, float], rule: SweepSettings
) -> None:
    assert poor_trial(own, OTHERS, rule) is None


def test_that_the_first_of_equal_epochs_is_the_best() -> None:
    assert best_of({3: 0.1, 1: 0.1, 2: 0.2}, more_is_better=False) == (1, 0.1)
    assert best_of({1: 0.1, 2: 0.2}, more_is_better=True) == (2, 0.2)
    assert best_of({}, more_is_better=True) is None


def test_that_a_trial_of_several_runs_is_the_mean_of_their_best_values() -> None:
    runs = ({1: 0.5, 2: 0.7, 3: 0.1}, {1: 0.3, 3: 0.4}, {})
    assert mean_of_best(runs, more_is_better=False) == pytest.approx({1: 0.4, 2: 0.4, 3: 0.2})
    assert mean_of_best(runs, more_is_better=True) == pytest.approx({1: 0.4, 2: 0.5, 3: 0.55})
    assert mean_of_best((), more_is_better=True) == {}
