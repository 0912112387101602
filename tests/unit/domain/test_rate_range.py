"""Which learning rate a range test suggests, and what it says where there is none."""

import math

import pytest

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import (
    GREATEST_RATE,
    LEAST_RATE,
    STEPS,
    RatePoint,
    RateRange,
    SmoothedLoss,
    rate_range_request,
    rate_range_sentence,
    rates,
    suggested_rate,
)
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import TrainingSettings


def points(losses: list[float]) -> list[RatePoint]:
    return [
        RatePoint(rate=rate, loss=loss, smoothed=loss)
        for rate, loss in zip(rates(), losses, strict=False)
    ]


def test_that_rates_rise_by_the_same_factor() -> None:
    found = rates()
    assert (len(found), found[0]) == (STEPS, LEAST_RATE)
    assert found[-1] == pytest.approx(GREATEST_RATE)
    assert found[51] / found[50] == pytest.approx(found[2] / found[1])


def test_that_the_rate_is_suggested_at_which_the_loss_falls_fastest() -> None:
    falls = [2.0 - math.tanh((step - 60) / 8.0) for step in range(100)]
    assert suggested_rate(points(falls)) == pytest.approx(rates()[60], rel=0.05)
    # What falls behind the least is nothing that is learned.
    again = [*falls[:80], 9.0, 9.0, 3.0, 3.0]
    assert suggested_rate(points(again)) == pytest.approx(rates()[60], rel=0.05)


@pytest.mark.parametrize("losses", [[], [2.0] * 5, [2.0] * 50, [1.0 + n for n in range(60)]])
def test_that_nothing_is_suggested_where_no_loss_falls(losses: list[float]) -> None:
    assert suggested_rate(points(losses)) is None


def test_that_a_loss_that_falls_from_the_first_step_on_is_not_taken_for_its_noise() -> None:
    losses = [9.0 - 0.9 * step for step in range(8)] + [1.0] * 40
    assert suggested_rate(points(losses)) is None


def test_that_the_smoothed_loss_is_a_mean_from_the_first_one_on() -> None:
    smoothed = SmoothedLoss()
    assert smoothed.add(3.0) == pytest.approx(3.0)
    assert smoothed.add(1.0) == pytest.approx((0.85 * 3.0 + 1.0) / 1.85)
    assert not smoothed.has_diverged(4.0)
    assert smoothed.has_diverged(8.0)
    assert smoothed.has_diverged(math.nan)
    assert smoothed.has_diverged(math.inf)


def test_that_a_loss_near_nothing_may_rise_a_little() -> None:
    smoothed = SmoothedLoss()
    smoothed.add(1e-9)
    assert not smoothed.has_diverged(1e-6)


def test_that_a_request_is_the_same_for_any_rate_and_any_length() -> None:
    plain = rate_range_request(Profile())
    changed = TrainingSettings(
        learning_rate=0.5, epochs=77, schedule=ScheduleSettings(kind="cosine")
    )
    assert rate_range_request(Profile(training=changed)) == plain
    other = TrainingSettings(global_batch_size=7)
    assert rate_range_request(Profile(training=other)) != plain


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (RateRange(suggested=0.02), "falls fastest at a learning rate of 0.02"),
        (RateRange(), "fell at no learning rate"),
        (RateRange(needs_download=True), "Download"),
        (RateRange(needs_start=True), "Python code"),
        (RateRange(problems=(Problem(code="a", message="b"),)), "could not be tried"),
    ],
)
def test_that_an_answer_is_a_sentence(found: RateRange, words: str) -> None:
    assert words in rate_range_sentence(found)
