"""Which examples each step takes, and how a batch is divided."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.trainer.loop.order import divide_batch, epoch_order, steps_per_epoch

SHARES = st.lists(st.integers(1, 64), min_size=1, max_size=6)


def test_that_order_depends_on_seed_and_epoch_alone() -> None:
    first = epoch_order(1000, 7, 1, shuffle=True)
    np.random.default_rng().random(10)

    assert np.array_equal(first, epoch_order(1000, 7, 1, shuffle=True))
    assert not np.array_equal(first, epoch_order(1000, 7, 2, shuffle=True))
    assert not np.array_equal(first, epoch_order(1000, 8, 1, shuffle=True))
    assert sorted(first.tolist()) == list(range(1000))


def test_that_without_shuffling_examples_come_as_they_are() -> None:
    assert epoch_order(5, 7, 3, shuffle=False).tolist() == [0, 1, 2, 3, 4]


@given(SHARES)
def test_that_a_full_batch_is_divided_by_the_shares(shares: list[int]) -> None:
    parts = divide_batch(shares, sum(shares))

    assert parts.sizes.tolist() == shares
    assert parts.copies == 1


@given(SHARES, st.data())
def test_that_each_example_of_a_batch_counts_the_same(
    shares: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, sum(shares)))

    parts = divide_batch(shares, size)

    taken = np.concatenate([np.arange(first, end) for first, end in parts.bounds])
    assert np.bincount(taken, minlength=size).tolist() == [parts.copies] * size
    assert parts.sizes.min() > 0


def test_that_the_last_smaller_batch_is_a_step() -> None:
    assert [steps_per_epoch(examples, 64) for examples in (1, 64, 65, 128)] == [1, 1, 2, 2]
