"""What is trained on and what validates."""

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.start_up import check_features_fit_model

NUMBERED = Examples(np.arange(100, dtype=np.float32)[:, None], np.arange(100, dtype=np.int32) % 2)
TEST = Examples(np.zeros((7, 1), np.float32), np.zeros(7, np.int32))


def numbers(examples: Examples | None) -> list[int]:
    assert examples is not None
    assert examples.in_memory is not None
    return [int(number) for number in examples.in_memory[:, 0]]


def test_that_every_example_is_trained_on_or_validates() -> None:
    parts = split(DataSet(NUMBERED, TEST), DigitsData(validation_fraction=0.2), seed=7)

    assert len(numbers(parts.validation)) == 20
    assert sorted(numbers(parts.training) + numbers(parts.validation)) == list(range(100))


def test_that_the_split_depends_on_the_seed_alone() -> None:
    settings = DigitsData(validation_fraction=0.2)

    def held_back(seed: int) -> list[int]:
        return numbers(split(DataSet(NUMBERED), settings, seed).validation)

    assert held_back(7) == held_back(7)
    assert held_back(7) != held_back(8)


@pytest.mark.parametrize(("fraction", "expected"), [(None, 7), (0.0, None)])
def test_that_a_test_set_validates_when_no_fraction_is_given(
    fraction: float | None, expected: int | None
) -> None:
    parts = split(DataSet(NUMBERED, TEST), DigitsData(validation_fraction=fraction), seed=7)

    assert len(parts.training) == 100
    assert (parts.validation and len(parts.validation)) == expected


@pytest.mark.parametrize(("fraction", "words"), [(0.001, "validate on"), (0.999, "train on")])
def test_that_a_fraction_that_leaves_nothing_is_reported(fraction: float, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        split(DataSet(NUMBERED), DigitsData(validation_fraction=fraction), seed=7)

    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (
        "data_validation_fraction",
        "data.validation_fraction",
    )
    assert words in problem.message


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 3), (9, 8, 1)])
def test_that_a_cnn_takes_pictures(shape: tuple[int, ...]) -> None:
    check_features_fit_model(CnnModel(filters=(4, 4, 4)), shape)


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        ((64,), "model_needs_pictures"),
        ((2, 8, 8, 3), "model_needs_pictures"),
        ((7, 8), "model_pictures_too_small"),
    ],
)
def test_that_a_cnn_refuses_other_features(shape: tuple[int, ...], code: str) -> None:
    check_features_fit_model(MlpModel(), shape)
    with pytest.raises(ProblemError) as caught:
        check_features_fit_model(CnnModel(filters=(4, 4, 4)), shape)

    assert caught.value.problems[0].code == code
