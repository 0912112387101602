"""Figures of one class, from counts that anybody can check by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics, Mistake


def test_that_precision_recall_and_f1_are_those_of_the_counts() -> None:
    cat = ClassMetrics(name="cat", examples=10, predicted=9, right=8)

    assert cat.precision == pytest.approx(8 / 9)
    assert cat.recall == pytest.approx(0.8)
    assert cat.f1 == pytest.approx(2 * (8 / 9) * 0.8 / (8 / 9 + 0.8))


def test_that_a_class_that_never_occurs_has_no_figures() -> None:
    unicorn = ClassMetrics(name="unicorn", examples=0, predicted=0, right=0)

    assert (unicorn.precision, unicorn.recall, unicorn.f1) == (None, None, None)


def test_that_a_class_that_is_never_predicted_has_no_precision_but_an_f1_of_zero() -> None:
    missed = ClassMetrics(name="cat", examples=5, predicted=0, right=0)

    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)


@given(right=st.integers(0, 9), missed=st.integers(0, 9), wrong=st.integers(0, 9))
def test_that_figures_are_fractions(right: int, missed: int, wrong: int) -> None:
    each = ClassMetrics(name="a", examples=right + missed, predicted=right + wrong, right=right)

    for figure in (each.precision, each.recall, each.f1):
        assert figure is None or 0.0 <= figure <= 1.0


def test_that_no_label_is_mistaken_for_another() -> None:
    figures = ClassMetrics(name="sun", examples=3, predicted=2, right=1)
    assert LabelMetrics(classes=(figures,)).most_mistaken_for(0) is None


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (Mistake(names=("dog",), count=1200), "dog (1,200)"),
        (Mistake(names=("dog", "cat"), count=2), "dog, cat (2 each)"),
        (Mistake(names=("dog", "cat"), others=3, count=2), "dog, cat and 3 more (2 each)"),
    ],
)
def test_that_mistakes_that_are_equally_frequent_are_told_with_how_many_there_are(
    mistake: Mistake, text: str
) -> None:
    assert mistake.text == text
