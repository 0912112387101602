"""Round numbers, wherever they label an axis or follow one another in a field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.round_numbers import (
    next_round,
    round_logarithms,
    round_numbers,
    round_step,
)

_PARTS = st.integers(1, 12)


@pytest.mark.parametrize(
    ("span", "parts", "step"),
    [(100.0, 5, 20.0), (1.0, 5, 0.2), (7.0, 2, 5.0), (0.0, 5, 1.0), (0.6, 2, 0.5), (8.0, 1, 10.0)],
)
def test_that_steps_are_round(span, parts, step):
    assert round_step(span, parts) == pytest.approx(step)


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (-2.0, 0.0, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]),
        (-0.7, -0.5, [0.2, 0.22, 0.24, 0.26, 0.28, 0.3]),
        (-8.0, 8.0, [1e-6, 1e-3, 1.0, 1e3, 1e6]),
    ],
)
def test_that_logarithms_are_labelled_at_round_values(low, high, values):
    assert [10.0**place for place in round_logarithms(low, high, 6)] == pytest.approx(values)


@given(st.floats(-300.0, 300.0), st.floats(1e-4, 600.0), _PARTS)
def test_that_a_range_of_logarithms_has_two_labels_and_not_too_many(low, width, parts):
    high = min(low + width, 305.0)
    found = round_logarithms(low, high, parts)
    assert 2 <= len(found) <= 3 * parts + 9
    assert found == sorted(found)
    assert all(low - 1e-6 <= place <= high + 1e-6 for place in found)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), _PARTS)
def test_that_a_range_of_numbers_has_two_labels_and_not_too_many(low, width, parts):
    found = round_numbers(low, low + width, parts)
    assert 2 <= len(found) <= 3 * parts + 9
    room = 1e-6 * (abs(low) + width)
    assert all(low - room <= number <= low + width + room for number in found)


@pytest.mark.parametrize(
    ("number", "greater", "smaller"),
    [
        (1.0, 2.0, 0.5),
        (0.001, 0.002, 0.0005),
        (3.0, 5.0, 2.0),
        (0.0, 1.0, -1.0),
        (-2.0, -1.0, -5.0),
    ],
)
def test_that_round_numbers_follow_one_another(number, greater, smaller):
    assert (next_round(number, 1), next_round(number, -1)) == (greater, smaller)
