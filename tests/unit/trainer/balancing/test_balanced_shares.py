"""Shares by measured speed: whole, within the bounds, and no others are better."""

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpupanel.trainer.balancing.balanced_shares import (
    SharesDoNotFit,
    balanced_shares,
    slowest_s,
)
from gpupanel.trainer.balancing.speed_curve import SpeedCurve, fit_curve

CURVES = st.builds(
    SpeedCurve,
    st.floats(0.0, 1.0),
    st.floats(1e-6, 1.0),
    st.none() | st.integers(1, 40),
)


@given(st.lists(CURVES, min_size=1, max_size=5), st.integers(1, 200), st.integers(1, 4))
def test_that_shares_sum_to_the_batch_within_their_bounds(
    curves: list[SpeedCurve], total: int, least: int
) -> None:
    caps = [curve.largest_share or total for curve in curves]
    if min(caps) < least or sum(caps) < total or least * len(curves) > total:
        with pytest.raises(SharesDoNotFit):
            balanced_shares(curves, total, least)
        return

    shares = balanced_shares(curves, total, least)

    assert sum(shares) == total
    assert all(least <= share <= cap for share, cap in zip(shares, caps, strict=True))


@given(st.lists(CURVES, min_size=1, max_size=3), st.integers(3, 14))
def test_that_no_other_shares_are_faster(curves: list[SpeedCurve], total: int) -> None:
    caps = [curve.largest_share or total for curve in curves]
    if sum(caps) < total:
        return
    possible = [
        shares
        for shares in product(*(range(1, min(cap, total) + 1) for cap in caps))
        if sum(shares) == total
    ]

    found = slowest_s(curves, balanced_shares(curves, total))

    assert found <= min(slowest_s(curves, shares) for shares in possible) * (1.0 + 1e-9)


def test_that_half_the_speed_gets_half_the_examples() -> None:
    assert balanced_shares([SpeedCurve(0.0, 1e-3), SpeedCurve(0.0, 2e-3)], 96) == (64, 32)


def test_that_what_is_fixed_counts_too() -> None:
    # 0.02 + 0.001 * 60 = 0.04 + 0.001 * 40
    assert balanced_shares([SpeedCurve(0.02, 1e-3), SpeedCurve(0.04, 1e-3)], 100) == (60, 40)


@given(st.floats(0.0, 1.0), st.floats(1e-6, 1.0))
def test_that_a_curve_goes_through_points_of_a_line(fixed_s: float, per_example_s: float) -> None:
    line = SpeedCurve(fixed_s, per_example_s)
    assume(per_example_s > 0.01 * fixed_s)  # flatter ones are not believed

    fitted = fit_curve([(n, line.seconds(n)) for n in (4, 16, 64)])

    assert [fitted.seconds(n) for n in (4, 30, 128)] == pytest.approx(
        [line.seconds(n) for n in (4, 30, 128)], rel=1e-4
    )


def test_that_examples_that_seem_to_cost_nothing_do_not_get_everything_to_one_replica() -> None:
    noisy = fit_curve([(8, 0.011), (16, 0.012), (32, 0.009), (64, 0.01)])
    steady = fit_curve([(8, 0.002), (16, 0.004), (32, 0.008), (64, 0.016)])

    assert noisy.per_example_s > 1e-5
    assert min(balanced_shares([noisy, steady], 64)) >= 16


@given(st.lists(st.tuples(st.integers(1, 1000), st.floats(1e-6, 10.0)), min_size=1, max_size=6))
def test_that_a_curve_only_rises_and_is_never_negative(measured: list[tuple[int, float]]) -> None:
    curve = fit_curve(measured)

    assert curve.fixed_s >= 0.0
    assert curve.per_example_s > 0.0


def test_that_a_curve_needs_a_measurement() -> None:
    with pytest.raises(ValueError, match="measurement"):
        fit_curve([])
