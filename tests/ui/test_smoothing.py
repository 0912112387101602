"""Exponential smoothing: what it is, and at its edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.ui.plots.smoothing import smoothed


def one_by_one(positions, values, span):
    total = weight = last = 0.0
    result = []
    for position, value in zip(positions, values, strict=True):
        fade = np.exp(-(position - last) / span)
        total, weight = total * fade + (1.0 - fade) * value, weight * fade + (1.0 - fade)
        result.append(total / weight)
        last = position
    return result


@given(
    st.lists(
        st.tuples(st.integers(1, 5_000), st.floats(-1e6, 1e6, allow_subnormal=False)),
        min_size=1,
        max_size=80,
    ),
    st.sampled_from([0.3, 1.0, 17.0, 1000.0, 100_000.0]),
)
def test_that_it_is_what_a_loop_over_the_points_gives(points, span):
    positions = np.cumsum([float(distance) for distance, _ in points])
    values = np.array([value for _, value in points])
    expected = one_by_one(positions, values, span) if values.size > 1 else values
    assert smoothed(positions, values, span) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_that_no_span_leaves_the_values_as_they_are():
    values = np.array([1.0, 5.0, 2.0])
    assert smoothed(np.array([1.0, 2.0, 3.0]), values, 0.0).tolist() == values.tolist()


def test_that_a_level_curve_stays_level_from_its_first_point_on():
    positions = np.arange(1.0, 2_000.0)
    assert smoothed(positions, np.full(positions.size, 3.0), 500.0) == pytest.approx(3.0)


def test_that_it_does_not_depend_on_how_often_a_run_reported():
    often = np.arange(1.0, 4_001.0)
    values = 1.0 / often
    close = smoothed(often, values, 200.0)[9::10]
    far = smoothed(often[9::10], values.reshape(-1, 10).mean(axis=1), 200.0)
    assert far == pytest.approx(close, rel=0.02)
