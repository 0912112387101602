"""What layers draw: by step and example, whatever part of a batch is asked for."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

ALWAYS_THE_SAME = "fixed"
"""A seed that is a number."""
BY_PYTHON = "Python"
"""A function of NumPy, which no graph holds."""
BY_PART = ("otherwise", "examples last", BY_PYTHON, "MixUp", "CutMix")
"""A distribution that is not drawn by example, numbers for examples that are not their first axis,
what Python draws, and layers of Keras's own that take something from other examples."""
WHATEVER_IS_ASKED = (
    *("truncated", "whole numbers", "weights", "fixed", "gamma", "gamma of each", "beta"),
    *("categorical", "in a loop", "otherwise", "examples last"),
)
"""Layers that draw whether they are trained or not."""

Differences = dict[str, dict[str, float]]
OfKeras = dict[str, list[str]]


@pytest.fixture(scope="module")
def reported() -> tuple[Differences, OfKeras]:
    script = Path(__file__).with_name("split_masks.py")
    done = run_forked([sys.executable, str(script)], capture_output=True, text=True, check=True)
    differences, of_keras = json.loads(done.stdout)
    return differences, of_keras


@pytest.fixture
def found(reported: tuple[Differences, OfKeras]) -> Differences:
    assert len(reported[0]) > 20
    return reported[0]


@pytest.fixture
def of_keras(reported: tuple[Differences, OfKeras]) -> OfKeras:
    return reported[1]


WHILE_TRACED = "while it is traced"
"""By Python: of a graph that is traced once it is the same, and each replica has a graph."""


def test_that_parts_of_a_batch_draw_what_the_whole_draws(found: Differences) -> None:
    apart = {name for name, each in found.items() if each["parts"] > 1e-6}

    assert apart == set(BY_PART)
    assert min(found[name]["parts"] for name in BY_PART) > 0.05


def test_that_what_depends_on_the_parts_is_warned_of_and_nothing_else(of_keras: OfKeras) -> None:
    by_python = BY_PART.index(BY_PYTHON) + 1
    assert of_keras["warned"] == [*BY_PART[:by_python], WHILE_TRACED, *BY_PART[by_python:]]


def test_that_layers_that_draw_in_predictions_are_found_and_no_others(of_keras: OfKeras) -> None:
    assert of_keras["predicting"] == list(WHATEVER_IS_ASKED)


def test_that_the_same_step_draws_the_same_and_another_one_other_numbers(
    found: Differences,
) -> None:
    assert {each["again"] for name, each in found.items() if name != BY_PYTHON} == {0.0}
    same = {name for name, each in found.items() if each["step"] < 0.03}
    assert same == {ALWAYS_THE_SAME, WHILE_TRACED}


def test_that_keras_still_cannot_draw_the_rows_of_a_greater_batch(of_keras: OfKeras) -> None:
    # The day it can, what is replaced of it should be left alone.
    assert of_keras["uniform"] == ["shape", "minval", "maxval", "dtype", "seed"]
    assert of_keras["next"] == ["self", "ordered"]


def test_that_the_functions_of_this_keras_are_those_that_are_replaced(of_keras: OfKeras) -> None:
    assert of_keras["not replaced"] == []


def test_that_images_are_distorted_each_by_itself_and_none_in_place_of_others(
    of_keras: dict[str, list[float]],
) -> None:
    # Keras's own layer puts the first one in place of all it distorts.
    assert of_keras["elastic"] == pytest.approx([number / 16 for number in range(16)], abs=1e-6)
