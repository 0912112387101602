"""What finds runs, as a person types it."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_filter import (
    RunFilter,
    ValueComparison,
    keys_named,
    parse_run_filter,
    plain_name,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ("  4090 comp ", ("4090", "comp")),
        ("adam and eve", ("adam", "and", "eve")),
        ('"lr=0.1" good', ("lr=0.1", "good")),
        ('5" disk', ("5", '"', "disk")),
        ("wow!", ("wow!",)),
        ('""', ()),
    ],
)
def test_that_words_stay_words(text: str, words: tuple[str, ...]) -> None:
    found = parse_run_filter(text)
    assert found == RunFilter(words=words)
    assert found.is_plain


@pytest.mark.parametrize(
    ("text", "comparison"),
    [
        (
            "val_accuracy > 0.9",
            ValueComparison(name="val_accuracy", sign=">", text="0.9", number=0.9),
        ),
        ("accuracy>=90 %", ValueComparison(name="accuracy", sign=">=", text="90 %", number=0.9)),
        ("epochs<=10", ValueComparison(name="epochs", sign="<=", text="10", number=10.0)),
        ("lr < 1e-3", ValueComparison(name="lr", sign="<", text="1e-3", number=0.001)),
        ("model = cnn", ValueComparison(name="model", sign="=", text="cnn")),
        ("model == cnn", ValueComparison(name="model", sign="=", text="cnn")),
        ("model!=cnn", ValueComparison(name="model", sign="!=", text="cnn")),
        (
            "learning rate = .5",
            ValueComparison(name="learning rate", sign="=", text=".5", number=0.5),
        ),
        ('name = "a and b"', ValueComparison(name="name", sign="=", text="a and b")),
        ('name = "5"', ValueComparison(name="name", sign="=", text="5")),
        ("hidden = [64, 32]", ValueComparison(name="hidden", sign="=", text="[64, 32]")),
    ],
)
def test_that_a_value_is_compared(text: str, comparison: ValueComparison) -> None:
    found = parse_run_filter(text)
    assert found.comparisons == (comparison,)
    assert not found.is_plain


def test_that_conditions_are_joined_by_and() -> None:
    found = parse_run_filter("cnn adam AND loss < 1 and tag:Base and tag: try this")
    assert found.words == ("cnn", "adam")
    assert [each.name for each in found.comparisons] == ["loss"]
    assert found.tags == ("base", "try this")


def test_that_tags_need_no_and() -> None:
    found = parse_run_filter("cnn tag:a tag:b")
    assert found == RunFilter(words=("cnn",), tags=("a", "b"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("> 0.9", "before “>”"),
        ('"" = 5', "before “=”"),
        ("loss <", "There is no value after “<”"),
        ("loss < 1 and", "after “and”"),
        ("and loss < 1", "before “and”"),
        ("0.5 < loss < 1", "One comparison has “<” and “<”"),
        ("tag:", "There is no tag"),
        ('name = "abc', "not closed"),
    ],
)
def test_that_a_wrong_one_says_why_in_a_sentence(text: str, part: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse_run_filter(text)
    (problem,) = caught.value.problems
    assert part in problem.message
    assert problem.message.endswith(".")
    assert problem.hint


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("x > 0.9", 0.95, True),
        ("x > 0.9", 0.9, False),
        ("x >= 0.9", 0.9, True),
        ("x < 2", 1.0, True),
        ("x <= 2", 3.0, False),
        ("x = 2", 2.0, True),
        ("x != 2", 2.0, False),
        ("x = CNN", "cnn", True),
        ("x != cnn", "cnn", False),
        ("x >= 2026-11-01", "2026-11-05 10:00", True),
        ("x = cnn", 5.0, False),
        ("x != cnn", 5.0, True),
        ("x > cnn", 5.0, False),
        ("x = 3", "3", True),
        ("x != 2", None, False),
    ],
)
def test_that_values_are_compared_as_what_they_are(
    text: str, value: str | float | None, *, holds: bool
) -> None:
    (comparison,) = parse_run_filter(text).comparisons
    assert comparison.holds(value) is holds


def test_that_only_more_and_less_are_an_order() -> None:
    (more,) = parse_run_filter("a > b").comparisons
    (same,) = parse_run_filter("a = b").comparisons
    assert more.is_order
    assert not same.is_order


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("training.epochs", ("training.epochs",)),
        ("Epochs", ("training.epochs",)),
        ("learning rate", ("training.learning_rate",)),
        ("learning-rate", ("training.learning_rate",)),
        ("lr", ("training.learning_rate",)),
        ("path", ("data.path", "model.path")),
        ("model", ("model.source",)),
        ("strategy", ("strategy.kind",)),
        ("nothing", ()),
    ],
)
def test_that_a_name_means_the_keys_that_end_with_it(name: str, keys: tuple[str, ...]) -> None:
    there = (
        "strategy.kind",
        "data.path",
        "model.source",
        "model.path",
        "training.epochs",
        "training.learning_rate",
    )
    assert keys_named(name, there) == keys


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 900, "9" * 5_000])
def test_that_a_number_beyond_all_bounds_is_none(number: str) -> None:
    (comparison,) = parse_run_filter(f"x > {number}").comparisons
    assert comparison.number is None


_PARTS = st.sampled_from(
    ["and", "tag:", "x", ">", "<=", "=", "!", '"', "%", "1e999", "1e-999", ".5", "5.", " "]
)


@given(st.text(max_size=60) | st.lists(_PARTS, max_size=12).map(" ".join))
def test_that_whatever_is_typed_is_a_filter_or_a_sentence(text: str) -> None:
    with suppress(ProblemError):
        found = parse_run_filter(text)
        assert not any(each.holds(None) for each in found.comparisons)


@given(
    st.from_regex(r"[a-z][a-z_]{0,10}", fullmatch=True).filter(lambda name: name != "and"),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
def test_that_a_comparison_is_read_as_it_is_written(name: str, sign: str, value: float) -> None:
    (found,) = parse_run_filter(f"{name} {sign} {value!r}").comparisons
    assert (found.name, found.sign, found.number) == (name, sign, value)
    assert plain_name(found.name) == plain_name(name)
