"""Whether a model is as often right as it is confident."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import ConfusionCells, EvaluatedExamples, write_confusion
from gpupanel.runs.following.calibration import (
    MOST_EXAMPLES,
    Calibration,
    calibration_of,
    read_calibration,
)

FOUND = EvaluationDone(
    time_s=0.0,
    examples=4,
    metrics=Metrics(loss=1.0, accuracy=0.5),
    class_count=2,
    confusion_file="evaluation.npz",
)
CELLS = ConfusionCells(np.array([0]), np.array([0]), np.array([4]), ("cat", "dog"))


def outcomes(chances: list[float], right: list[bool]) -> EvaluatedExamples:
    labels = np.zeros(len(right), np.int32)
    predicted = np.where(right, 0, 1).astype(np.int32)
    places = np.arange(len(right), dtype=np.int32)
    return EvaluatedExamples(places, labels, predicted, np.float32(chances), np.float32(chances))


def test_that_examples_are_counted_by_the_tenth_of_their_probability() -> None:
    found = calibration_of(outcomes([0.55, 0.59, 0.95, 1.0], [True, False, True, True]))
    assert found is not None
    low, high = found.bins
    assert (low.low, low.examples, low.accuracy) == (0.5, 2, 0.5)
    assert low.confidence == pytest.approx(0.57)
    assert (high.low, high.examples, high.accuracy) == (0.9, 2, 1.0)
    assert high.confidence == pytest.approx(0.975)
    assert found.error == pytest.approx((2 * 0.07 + 2 * 0.025) / 4)


def test_that_probabilities_that_are_none_are_counted_at_the_ends() -> None:
    found = calibration_of(outcomes([-5.0, 7.0], [True, False]))
    assert found is not None
    assert [(each.low, each.confidence) for each in found.bins] == [(0.0, 0.0), (0.9, 1.0)]
    assert found.error == 1.0


def test_that_no_examples_have_no_calibration() -> None:
    assert calibration_of(outcomes([], [])) is None


def test_that_it_is_read_where_single_outcomes_were_kept(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    write_confusion(layout.confusion, CELLS)
    assert read_calibration(layout, FOUND) is None
    write_confusion(layout.confusion, CELLS, outcomes([0.9] * 4, [True] * 4))
    found = read_calibration(layout, FOUND)
    assert isinstance(found, Calibration)
    assert found.bins[0].examples == 4
    too_many = FOUND.model_copy(update={"examples": MOST_EXAMPLES + 1})
    assert read_calibration(layout, too_many) is None
    assert read_calibration(layout, FOUND.model_copy(update={"confusion_file": ""})) is None


def test_that_a_lost_file_is_a_problem(tmp_path: Path) -> None:
    found = read_calibration(RunLayout(tmp_path), FOUND)
    assert isinstance(found, Problem)
    assert found.code == "confusion_unread"


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.95, "The model is overconfident: mean confidence is 95.0 %, accuracy 75.0 %."),
        (0.55, "The model is underconfident: mean confidence is 55.0 %, accuracy 75.0 %."),
        (0.7525, "error). Mean confidence is 75.2 %, accuracy 75.0 %."),
    ],
)
def test_that_it_is_said_whether_a_model_is_overconfident(chance: float, words: str) -> None:
    found = calibration_of(outcomes([chance] * 4, [True, True, True, False]))
    assert found is not None
    assert found.words.endswith(words)
