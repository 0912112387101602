"""Successive halving, by hand."""

import pytest

from gpupanel.domain.sweep import StoppingRule, SweepDirection, SweepSettings
from gpupanel.planning.successive_halving import (
    RungTrial,
    next_rung,
    standings,
    trial_to_continue,
)
from gpupanel.planning.sweep_pruning import poor_trial

RULE = SweepSettings(stopping_rule=StoppingRule.SUCCESSIVE_HALVING)


def paused(*losses: float, after: int = 1) -> tuple[RungTrial, ...]:
    """Trials that are paused at a rung, with one value there each."""
    return tuple(
        RungTrial(number, {after: loss}, paused_after=after)
        for number, loss in enumerate(losses, 1)
    )


def test_that_rungs_are_so_many_times_as_late_each_time_and_before_the_end() -> None:
    found = [next_rung(28, after, RULE) for after in (0, 1, 2, 3, 9, 27)]
    assert found == [1, 3, 3, 9, 27, None]
    assert next_rung(27, 9, RULE) is None
    rule = RULE.model_copy(update={"first_rung": 2, "reduction_factor": 4})
    assert [next_rung(100, after, rule) for after in (0, 2, 8, 32)] == [2, 8, 32, None]


def test_that_nobody_goes_on_before_there_is_one_for_each_of_the_factor() -> None:
    assert trial_to_continue(paused(0.5, 0.4), RULE) is None
    assert trial_to_continue(paused(0.5, 0.4, 0.6), RULE) == 2


def test_that_one_that_has_gone_on_takes_its_place_among_the_best() -> None:
    going = RungTrial(2, {1: 0.4})
    first, third = paused(0.5)[0], RungTrial(3, {1: 0.6}, paused_after=1)
    assert trial_to_continue((first, going, third), RULE) is None


def test_that_the_highest_rung_comes_first() -> None:
    low = paused(0.1, 0.2, 0.3)
    high = tuple(RungTrial(n, {1: 0.9, 3: 0.1 * n}, paused_after=3) for n in (4, 5, 6))
    assert trial_to_continue((*low, *high), RULE) == 4


def test_that_the_best_value_until_the_rung_counts_and_none_behind_it() -> None:
    trials = (
        RungTrial(1, {1: 0.5, 2: 0.01, 3: 0.6, 4: 0.0}),
        RungTrial(2, {1: 0.4, 3: 0.3}, paused_after=3),
        RungTrial(3, {1: 0.2}, paused_after=1),
    )
    found = standings(trials, 3, RULE)
    assert [(each.number, each.best, each.rank) for each in found] == [(1, 0.01, 1), (2, 0.3, 2)]
    assert {(each.epoch, each.among, each.continued) for each in found} == {(3, 2, 0)}


def test_that_of_equal_trials_the_earlier_goes_on() -> None:
    assert trial_to_continue(paused(0.5, 0.5, 0.5), RULE) == 1


def test_that_greater_is_better_where_the_sweep_says_so() -> None:
    rule = RULE.model_copy(update={"direction": SweepDirection.MAXIMIZE})
    assert trial_to_continue(paused(0.5, 0.4, 0.6), rule) == 3


def test_that_a_trial_that_ended_by_itself_counts_at_later_rungs() -> None:
    done = RungTrial(1, {1: 0.1, 2: 0.2}, is_completed=True)
    others = tuple(RungTrial(n, {1: 0.5, 3: 0.1 * n}, paused_after=3) for n in (2, 3))
    assert [each.number for each in standings((done, *others), 3, RULE)] == [1, 2, 3]
    assert trial_to_continue((done, *others), RULE) is None


def test_that_a_trial_without_a_value_counts_nowhere() -> None:
    assert standings((RungTrial(1, {}, is_completed=True), RungTrial(2, {})), 1, RULE) == ()


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        (paused(0.5, 0.4), 2),
        ((*paused(0.5), RungTrial(2, {1: 0.9, 3: 0.8}, paused_after=3)), 2),
        ((*paused(0.5), RungTrial(2, {1: 0.4, 3: 0.3}, is_completed=True)), None),
        ((RungTrial(1, {1: 0.5}),), None),
    ],
)
def test_that_the_last_one_goes_to_the_end_where_none_has(
    trials: tuple[RungTrial, ...], expected: int | None
) -> None:
    assert trial_to_continue(trials, RULE) is None
    assert trial_to_continue(trials, RULE, is_last=True) == expected


def test_that_the_median_stops_nobody_where_trials_are_halved() -> None:
    rule = RULE.model_copy(update={"prune_after_trials": 1})
    assert poor_trial({2: 9.0}, [{2: 0.1}, {2: 0.2}], rule) is None
    median = rule.model_copy(update={"stopping_rule": StoppingRule.MEDIAN})
    assert poor_trial({2: 9.0}, [{2: 0.1}, {2: 0.2}], median) is not None
