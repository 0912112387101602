"""Which number of examples is tried next, and when there is nothing more to be found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.batch_search import (
    BatchTrial,
    SearchEnd,
    least_that_does_not,
    most_that_fit,
    next_examples,
    search_end,
)


def searched(first: int, most: int, holds: int) -> tuple[list[int], list[BatchTrial]]:
    """What is tried where so many examples fit."""
    trials: list[BatchTrial] = []
    while (examples := next_examples(first, most, trials)) is not None:
        trials.append(BatchTrial(examples=examples, fits=examples <= holds))
        assert len(trials) < 70
    return [each.examples for each in trials], trials


def test_that_it_begins_below_what_is_said_to_fit_and_reaches_on_from_there() -> None:
    assert searched(400, 10**6, 430)[0] == [100, 200, 400, 448, 416]
    assert searched(400, 10**6, 10**6)[0][:7] == [100, 200, 400, 448, 512, 768, 1536]


def test_that_a_data_set_that_fits_whole_ends_it() -> None:
    tried, trials = searched(10**6, 1437, 10**6)
    assert tried[-1] == most_that_fit(trials) == 1437
    assert len(tried) <= 5
    assert search_end(1437, trials) is SearchEnd.ALL_EXAMPLES


def test_that_an_estimate_that_is_far_too_large_is_halved_down() -> None:
    tried, trials = searched(400, 10**6, 3)
    assert tried == [100, 50, 25, 12, 6, 3, 4]
    assert search_end(10**6, trials) is SearchEnd.FOUND
    tried, trials = searched(400, 10**6, 0)
    assert tried[-1] == 1
    assert most_that_fit(trials) == 0
    assert search_end(10**6, trials) is SearchEnd.NOTHING_FITS


@given(first=st.integers(1, 2**20), most=st.integers(1, 2**20), holds=st.integers(1, 2**20))
def test_that_what_is_found_fits_and_hardly_more_does(first: int, most: int, holds: int) -> None:
    tried, trials = searched(first, most, holds)
    found = most_that_fit(trials)
    there = min(most, holds)
    assert there * 7 // 8 - 1 <= found <= there
    assert max(tried) <= most
    assert len(set(tried)) == len(tried)


@given(holds=st.integers(300, 500))
def test_that_few_are_tried_where_the_estimate_is_nearly_right(holds: int) -> None:
    tried, _ = searched(400, 10**6, holds)
    assert len(tried) <= 7
    assert sum(examples > holds for examples in tried) <= 3


def test_that_a_number_above_one_that_did_not_fit_is_not_believed() -> None:
    trials = [
        BatchTrial(examples=100, fits=True),
        BatchTrial(examples=80, fits=False),
        BatchTrial(examples=20, fits=True),
    ]
    assert (most_that_fit(trials), least_that_does_not(trials)) == (20, 80)


@pytest.mark.parametrize("first", [1, 3, 7])
def test_that_single_examples_are_tried_one_by_one(first: int) -> None:
    assert most_that_fit(searched(first, 100, 5)[1]) == 5
