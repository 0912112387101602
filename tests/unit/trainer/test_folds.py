"""Cross-validation: over all folds each example is held out exactly once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.data import DigitsData
from gpupanel.domain.data_source import Holdout
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.split import divide, split
from gpupanel.trainer.parts.splits import drawn_order, fold


def parts_of(examples: int, folds: int, **beside: np.ndarray) -> list[np.ndarray]:
    order = drawn_order(examples, 7)
    return [fold(number, folds, order, **beside) for number in range(1, folds + 1)]


@given(st.integers(2, 400), st.integers(2, 20))
def test_that_each_example_is_in_one_fold_and_folds_are_equal_but_for_one(
    examples: int, folds: int
) -> None:
    parts = parts_of(examples, folds)
    assert sorted(np.concatenate(parts)) == list(range(examples))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(0, 4), min_size=2, max_size=300), st.integers(2, 10))
def test_that_each_fold_has_its_share_of_each_class(labels: list[int], folds: int) -> None:
    classes = np.array(labels)
    parts = parts_of(len(labels), folds, classes=classes)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    for number in set(labels):
        share = labels.count(number) / folds
        counts = [int(np.count_nonzero(classes[part] == number)) for part in parts]
        assert all(abs(count - share) < 2.0 for count in counts)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=200), st.integers(2, 8))
def test_that_no_group_is_in_two_folds(labels: list[int], folds: int) -> None:
    groups = np.array(labels)
    parts = parts_of(len(labels), folds, groups=groups)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    for number in set(labels):
        assert sum(bool(np.any(groups[part] == number)) for part in parts) == 1


def test_that_there_are_no_more_folds_than_were_asked_for() -> None:
    assert len(fold(4, 3, drawn_order(9, 7))) == 0


@pytest.mark.parametrize("folds", [3, 5, 7])
def test_that_the_validation_fraction_says_how_many_folds_there_are(folds: int) -> None:
    held = []
    for number in range(1, folds + 1):
        settings = DigitsData(validation_fraction=1.0 / folds, fold=number)
        kept, held_back = divide(100, settings, 3, None)
        assert sorted([*kept, *held_back]) == list(range(100))
        assert list(held_back) == sorted(held_back)
        held += [*held_back]
    assert sorted(held) == list(range(100))


def test_that_folds_are_stratified_where_the_profile_says_so() -> None:
    classes = np.array([0] * 90 + [1] * 10)
    settings = DigitsData(validation_fraction=0.2, stratify=True)
    for number in range(1, 6):
        one = settings.model_copy(update={"fold": number})
        _, held_back = divide(100, one, 3, classes)
        assert np.count_nonzero(classes[held_back]) == 2


def test_that_a_fold_that_is_not_there_is_named() -> None:
    settings = DigitsData(validation_fraction=0.25, fold=4)
    with pytest.raises(ProblemError, match="There is no fold 4 of 6 examples") as caught:
        divide(6, settings, 3, None, np.array([1, 1, 2, 2, 3, 3]))
    assert caught.value.problems[0].field == "data.fold"


def test_that_a_fold_beside_a_validation_set_is_refused() -> None:
    rows = Examples(np.zeros((4, 2), np.float32), np.zeros(4, np.int32))
    both = DataSet(training=rows, validation=rows, class_names=("0", "1"))
    with pytest.raises(ProblemError, match="has a validation set of its own"):
        split(both, DigitsData(validation_fraction=0.5, fold=1), 7)


def test_that_the_last_examples_are_held_out_whatever_the_fold() -> None:
    last = DigitsData(validation_fraction=0.25, holdout=Holdout.LAST, fold=2)
    assert list(divide(8, last, 3, None)[1]) == [6, 7]
