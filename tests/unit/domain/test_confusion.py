"""Figures per class, from counts that anybody can check by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gpupanel.domain.confusion import ClassFigures, ConfusionMatrix

PETS = ConfusionMatrix(
    counts=((8, 2, 0), (1, 9, 0), (0, 0, 0)), class_names=("cat", "dog", "unicorn")
)


def test_that_precision_recall_and_f1_are_those_of_the_counts() -> None:
    cat, dog, _ = PETS.classes

    assert (cat.name, cat.examples, cat.predicted, cat.right) == ("cat", 10, 9, 8)
    assert cat.precision == pytest.approx(8 / 9)
    assert cat.recall == pytest.approx(0.8)
    assert cat.f1 == pytest.approx(2 * (8 / 9) * 0.8 / (8 / 9 + 0.8))
    assert (dog.precision, dog.recall) == (pytest.approx(9 / 11), pytest.approx(0.9))
    assert PETS.examples == 20
    assert PETS.accuracy == pytest.approx(17 / 20)


def test_that_a_class_that_never_occurs_has_no_figures() -> None:
    unicorn = PETS.classes[2]

    assert (unicorn.precision, unicorn.recall, unicorn.f1) == (None, None, None)


def test_that_a_class_that_is_never_predicted_has_no_precision_but_an_f1_of_zero() -> None:
    missed = ClassFigures(name="cat", examples=5, predicted=0, right=0)

    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)


def test_that_the_worst_mistake_is_named() -> None:
    assert PETS.most_mistaken_for(0) == ("dog", 2)
    assert PETS.most_mistaken_for(2) is None


def test_that_no_examples_have_no_accuracy() -> None:
    nothing = ConfusionMatrix(counts=((0,),), class_names=("cat",))

    assert (nothing.examples, nothing.accuracy) == (0, None)
    assert ConfusionMatrix(counts=(), class_names=()).classes == ()


@pytest.mark.parametrize("counts", [((1,),), ((1, 2), (3,))])
def test_that_a_matrix_is_square(counts: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValidationError, match="a row and a column for each class"):
        ConfusionMatrix(counts=counts, class_names=("cat", "dog"))


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4))
def test_that_figures_add_up(counts: list[list[int]]) -> None:
    rows = tuple(tuple(row) for row in counts)
    matrix = ConfusionMatrix(counts=rows, class_names=("a", "b", "c", "d"))

    assert sum(each.examples for each in matrix.classes) == matrix.examples
    assert sum(each.predicted for each in matrix.classes) == matrix.examples
    for each in matrix.classes:
        for figure in (each.precision, each.recall, each.f1):
            assert figure is None or 0.0 <= figure <= 1.0
