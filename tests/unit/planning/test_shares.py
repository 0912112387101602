"""Shares always sum to the global batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.planning.shares import equal_shares, proportional_shares

weights = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=16)


@given(st.integers(0, 100_000), st.integers(1, 64))
def test_that_equal_shares_sum_to_the_batch_and_differ_by_one_at_most(
    total: int, replicas: int
) -> None:
    shares = equal_shares(total, replicas)
    assert len(shares) == replicas
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


@given(st.integers(0, 100_000), weights)
def test_that_proportional_shares_sum_to_the_batch(total: int, weights: list[float]) -> None:
    shares = proportional_shares(total, weights)
    assert len(shares) == len(weights)
    assert sum(shares) == total
    assert min(shares) >= 0


@given(st.integers(0, 100_000), st.lists(st.integers(1, 1000), min_size=1, max_size=16))
def test_that_each_share_is_within_one_example_of_its_proportion(
    total: int, weights: list[int]
) -> None:
    shares = proportional_shares(total, weights)
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / sum(weights)) <= 1


def test_that_weights_of_nothing_count_as_equal() -> None:
    assert proportional_shares(5, [0.0, 0.0]) == (3, 2)


@pytest.mark.parametrize(("total", "replicas"), [(1, 0), (-1, 2)])
def test_that_what_cannot_be_divided_is_refused(total: int, replicas: int) -> None:
    with pytest.raises(ValueError, match="cannot divide"):
        equal_shares(total, replicas)


@pytest.mark.parametrize(("total", "weights"), [(1, []), (-1, [1.0]), (1, [-1.0, 2.0])])
def test_that_weights_that_divide_nothing_are_refused(total: int, weights: list[float]) -> None:
    with pytest.raises(ValueError, match="cannot divide"):
        proportional_shares(total, weights)
