"""How many examples reach which probability of a class, counted part by part."""

import numpy as np
import pytest

from gpupanel.files.score_counts_file import MOST_SCORED, STEPS, THRESHOLDS, ScoreCounts
from gpupanel.trainer.inference.counted_scores import CountedScores
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.meaning import OutputMeaning
from gpupanel.trainer.parts.output_meaning import Meaning, predicted_numbers

DIVISIONS = {"whole": (), "uneven": (1, 40, 41), "one by one": tuple(range(1, 200))}


def reaching(probabilities: np.ndarray, is_own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many own and other examples reach each threshold: one comparison after the other."""
    reached = probabilities[None] >= THRESHOLDS[:, None, None]
    own, other = (reached & is_own).sum(axis=1).T, (reached & ~is_own).sum(axis=1).T
    return own, other


def summed(counts: ScoreCounts) -> tuple[np.ndarray, np.ndarray]:
    own, other = (each[:, ::-1].cumsum(axis=1)[:, ::-1] for each in (counts.own, counts.other))
    return own, other


def evaluated(
    outputs: np.ndarray, labels: np.ndarray, reading: OutputMeaning, cuts: tuple
) -> ScoreCounts:
    evaluation = Evaluation(labels, reading)
    for first, end in zip((0, *cuts), (*cuts, len(labels)), strict=True):
        evaluation.add(end - first, [evaluation.digest(outputs[first:end], first)])
    counts = evaluation.scores.counts
    assert counts is not None
    return counts


def agree(counts: ScoreCounts, probabilities: np.ndarray, is_own: np.ndarray) -> None:
    for found, wanted in zip(summed(counts), reaching(probabilities, is_own), strict=True):
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("cuts", DIVISIONS.values(), ids=DIVISIONS)
@pytest.mark.parametrize(
    ("meaning", "outputs"),
    [
        (Meaning.LOGITS, 5),
        (Meaning.PROBABILITIES, 3),
        (Meaning.BINARY_LOGIT, 1),
        (Meaning.BINARY_PROBABILITY, 1),
    ],
)
def test_that_all_probabilities_of_classes_are_counted_however_they_are_divided(
    meaning: Meaning, outputs: int, cuts: tuple[int, ...]
) -> None:
    random = np.random.default_rng(7)
    numbers = random.normal(0.0, 3.0, (200, outputs)).astype(np.float32)
    if "PROBABILIT" in meaning.name:
        # Many of them lie on a threshold exactly.
        numbers = np.round(1.0 / (1.0 + np.exp(-numbers)), 3).astype(np.float32)
    classes = max(2, outputs)
    labels = random.integers(0, classes, 200).astype(np.int32)
    counts = evaluated(numbers, labels, OutputMeaning(meaning, classes), cuts)
    agree(counts, predicted_numbers(numbers, meaning), labels[:, None] == np.arange(classes))


@pytest.mark.parametrize("cuts", DIVISIONS.values(), ids=DIVISIONS)
def test_that_each_of_several_labels_is_counted(cuts: tuple[int, ...]) -> None:
    random = np.random.default_rng(8)
    logits = random.normal(0.0, 2.0, (200, 4)).astype(np.float32)
    labels = random.integers(0, 2, (200, 4)).astype(np.float32)
    reading = OutputMeaning(Meaning.LABEL_LOGITS, 0, label_count=4)
    counts = evaluated(logits, labels, reading, cuts)
    agree(counts, predicted_numbers(logits, Meaning.LABEL_LOGITS), labels > 0.5)


def test_that_a_probability_on_a_threshold_reaches_it_and_one_below_does_not() -> None:
    below = np.nextafter(THRESHOLDS[1:], np.float32(0.0))
    probabilities = np.concatenate([THRESHOLDS, below])[:, None]
    counted = CountedScores(1)
    counted.add(counted.of_classes(probabilities, np.zeros(len(probabilities), np.int64)))
    assert counted.counts is not None
    # Each threshold has itself and the number below the next one.
    assert counted.counts.own[0].tolist() == [2] * STEPS + [1]


def test_that_of_very_many_classes_the_first_are_counted_and_no_example_is_lost() -> None:
    classes, examples = MOST_SCORED + 200, 300
    random = np.random.default_rng(9)
    logits = random.normal(0.0, 4.0, (examples, classes)).astype(np.float32)
    labels = random.integers(0, classes, examples).astype(np.int32)
    counts = evaluated(logits, labels, OutputMeaning(Meaning.LOGITS, classes), (7, 100))
    assert counts.own.shape == (MOST_SCORED, STEPS + 1)
    assert set((counts.own + counts.other).sum(axis=1).tolist()) == {examples}
    probabilities = predicted_numbers(logits, Meaning.LOGITS)[:, :10]
    own, other = reaching(probabilities, labels[:, None] == np.arange(10))
    assert summed(counts)[0][:10].tolist() == own.tolist()
    assert summed(counts)[1][:10].tolist() == other.tolist()


def test_that_values_have_none() -> None:
    assert CountedScores(0).counts is None
