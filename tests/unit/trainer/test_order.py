"""Which examples each step takes, and how a batch is divided."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.data import DigitsData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.parts.batch_division import divide_batch
from gpupanel.trainer.steps.order import (
    EpochOrder,
    make_epoch_order,
    steps_per_epoch,
)

SHARES = st.lists(st.integers(1, 64), min_size=1, max_size=6)


def test_that_order_depends_on_seed_and_epoch_alone() -> None:
    first = EpochOrder(1000, 7, shuffle=True).of(1)
    np.random.default_rng().random(10)

    assert np.array_equal(first, EpochOrder(1000, 7, shuffle=True).of(1))
    assert not np.array_equal(first, EpochOrder(1000, 7, shuffle=True).of(2))
    assert not np.array_equal(first, EpochOrder(1000, 8, shuffle=True).of(1))
    assert sorted(first.tolist()) == list(range(1000))


def test_that_without_shuffling_examples_come_as_they_are() -> None:
    assert EpochOrder(5, 7, shuffle=False).of(3).tolist() == [0, 1, 2, 3, 4]


def test_that_examples_of_rare_classes_are_repeated_until_all_come_equally_often() -> None:
    classes = np.asarray([2, 0, 0, 0, 2, 0, 0, 5])
    order = EpochOrder(8, 7, shuffle=True, classes=classes)
    first = order.of(1)
    assert len(order) == len(first) == 15
    assert np.bincount(classes[first]).tolist() == [5, 0, 5, 0, 0, 5]
    times = np.bincount(first)
    # Each as often as every other one of its class, but for those that do not go round.
    assert times[classes == 0].tolist() == [1] * 5
    assert sorted(times[classes == 2]) == [2, 3]
    assert np.array_equal(first, EpochOrder(8, 7, shuffle=True, classes=classes).of(1))
    # Which of them come once more is drawn anew.
    drawn = {tuple(np.bincount(order.of(epoch))[[0, 4]]) for epoch in range(1, 20)}
    assert drawn == {(2, 3), (3, 2)}
    unshuffled = EpochOrder(8, 7, shuffle=False, classes=classes).of(1)
    assert unshuffled.tolist() == sorted(unshuffled)


def test_that_an_epoch_of_repeated_examples_that_no_memory_holds_is_refused() -> None:
    # 50,000 classes of one example, and one of 3,000.
    labels = np.concatenate([np.arange(1, 50_001), np.zeros(3_000)]).astype(np.int32)
    names = tuple(str(number) for number in range(50_001))
    examples = Examples(np.zeros((len(labels), 1), np.float32), labels)
    data = Split(DataSet(examples, class_names=names), examples, None)
    with pytest.raises(ProblemError) as refused:
        make_epoch_order(DigitsData(oversample=True), data, 7)
    assert refused.value.problems[0].code == "oversample_too_long"
    assert len(make_epoch_order(DigitsData(), data, 7)) == len(labels)


def test_that_examples_are_repeated_only_where_they_have_classes() -> None:
    examples = Examples(np.zeros((4, 1), np.float32), np.zeros(4, np.float32))
    with pytest.raises(ProblemError) as refused:
        make_epoch_order(DigitsData(oversample=True), Split(DataSet(examples), examples, None), 7)
    assert refused.value.problems[0].code == "oversample_without_classes"


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


@given(SHARES, st.data())
def test_that_no_replica_takes_more_of_a_smaller_batch_than_of_a_full_one(
    shares: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(len(shares), sum(shares)))

    parts = divide_batch(shares, size)

    assert parts.copies == 1
    assert (parts.sizes <= shares).all()


@given(SHARES, st.data())
def test_that_a_smaller_batch_is_divided_as_the_shares_are(
    shares: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, sum(shares)))
    nearest = np.asarray(shares) * size / sum(shares)

    sizes = divide_batch(shares, size).sizes

    if nearest.min() >= 1:
        assert np.abs(sizes - nearest).max() <= 1


def test_that_a_replica_without_a_share_takes_one_example() -> None:
    assert divide_batch([64, 0], 64).sizes.tolist() == [63, 1]
    assert divide_batch([0, 64], 64).sizes.tolist() == [1, 63]


@pytest.mark.parametrize(
    ("shares", "size", "accumulation_steps", "sizes", "micro_batches"),
    [
        ([4, 60], 64, 4, [4, 60], 4),
        ([4, 60], 63, 4, [4, 59], 4),
        ([4, 60], 15, 4, [4, 11], 4),
        ([4, 60], 7, 4, [3, 4], 3),
        ([32, 32], 7, 4, [3, 4], 1),
        ([4, 4], 7, 4, [3, 4], 3),
        ([64], 5, 4, [5], 4),
        ([64], 3, 4, [3], 1),
        ([4], 3, 4, [3], 3),
        ([1, 63], 1, 1, [1, 1], 1),
    ],
)
def test_that_a_smaller_batch_is_taken_in_micro_batches_too(
    shares: list[int], size: int, accumulation_steps: int, sizes: list[int], micro_batches: int
) -> None:
    parts = divide_batch(shares, size, accumulation_steps)

    assert parts.sizes.tolist() == sizes
    assert parts.micro_batches == micro_batches


@given(st.integers(1, 16), st.lists(st.integers(16, 64), min_size=1, max_size=6), st.data())
def test_that_a_micro_batch_of_a_smaller_batch_is_at_most_one_example_larger(
    accumulation_steps: int, shares: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, sum(shares)))

    parts = divide_batch(shares, size, accumulation_steps)

    assert 1 <= parts.micro_batches <= min(accumulation_steps, *parts.sizes)
    largest = -(-parts.sizes // parts.micro_batches)
    assert (largest <= -(-np.asarray(shares) // accumulation_steps) + 1).all()


def test_that_the_last_smaller_batch_is_a_step() -> None:
    assert [steps_per_epoch(examples, 64) for examples in (1, 64, 65, 128)] == [1, 1, 2, 2]
