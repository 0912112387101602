"""What another threshold than the model's own comes to."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.confusion import ClassMetrics
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import ConfusionCells, write_confusion
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.score_counts_file import STEPS, ScoreCounts, read_score_counts
from gpupanel.runs.following.thresholds import Thresholds, read_thresholds, thresholds_of
from gpupanel.trainer.inference.counted_scores import CountedScores
from tests.forked.processes import run_forked

FOUND = EvaluationDone(
    time_s=0.0,
    examples=4,
    metrics=Metrics(loss=1.0, accuracy=0.5),
    class_count=2,
    confusion_file="evaluation.npz",
)
CHILD = """
import json, sys
import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support as figures
given = np.load(sys.argv[1])
found = []
for number in range(given["p"].shape[1]):
    is_it = given["y"] == number
    for place in range(0, 1001, 50):
        taken = given["p"][:, number] >= np.float32(place / 1000)
        precision, recall, f1, _ = figures(is_it, taken, average="binary", zero_division=np.nan)
        (no, wrongly), (missed, right) = confusion_matrix(is_it, taken).tolist()
        found.append([number, place, [[right, missed], [wrongly, no]],
            *(None if np.isnan(each) else float(each) for each in (precision, recall, f1))])
print(json.dumps(found))
"""


def counted(probabilities: np.ndarray, true: np.ndarray) -> ScoreCounts:
    scores = CountedScores(probabilities.shape[1])
    scores.add(scores.of_classes(probabilities.astype(np.float32), true.astype(np.int64)))
    assert scores.counts is not None
    return scores.counts


def classes_of(true: np.ndarray, count: int) -> list[ClassMetrics]:
    totals = np.bincount(true, minlength=count).tolist()
    return [
        ClassMetrics(name=f"class {number}", examples=total, predicted=0, right=0)
        for number, total in enumerate(totals)
    ]


def binary(second: list[float], true: list[int]) -> Thresholds:
    chances = np.float32(second)
    labels = np.array(true)
    counts = counted(np.stack([1 - chances, chances], axis=1), labels)
    return thresholds_of(counts, classes_of(labels, 2))


def test_that_all_figures_are_those_of_scikit_learn(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    true = random.choice(3, 5_000, p=(0.7, 0.25, 0.05))
    logits = random.normal(0.0, 1.5, (5_000, 3))
    logits[np.arange(5_000), true] += 1.5
    powers = np.exp(logits)
    chances = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    np.savez(tmp_path / "given.npz", p=chances, y=true)
    command = [sys.executable, "-c", CHILD, tmp_path / "given.npz"]
    done = run_forked(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    found = thresholds_of(counted(chances, true), classes_of(true, 3))
    wanted = json.loads(done.stdout)
    assert len(wanted) == 63
    for number, place, matrix, precision, recall, f1 in wanted:
        metrics = found.at(number, place)
        assert found.matrix(number, place).in_full() == matrix
        assert (metrics.precision, metrics.recall) == pytest.approx((precision, recall))
        assert metrics.f1 == pytest.approx(f1)
        curves = found.curves(number)
        assert (curves.precision[place], curves.recall[place]) == (
            metrics.precision,
            metrics.recall,
        )


def test_that_most_f1_is_in_the_middle_of_what_is_equally_good() -> None:
    found = binary([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert found.most_f1(1) == 500  # above 0.2, up to 0.8
    assert found.at(1, 500).f1 == 1.0
    assert found.matrix(1, 500).class_names == ("class 1", "not class 1")


def test_that_most_f1_is_the_first_of_two_that_are_apart() -> None:
    # At 0.2 all three are taken (F1 0.8); at 0.9 one (F1 0.67).
    found = binary([0.2, 0.5, 0.9], [1, 0, 1])
    assert found.most_f1(1) == 100
    assert binary([0.1, 0.5], [0, 0]).most_f1(1) is None


def test_that_nothing_taken_has_no_precision_and_no_class_no_recall() -> None:
    found = binary([0.1, 0.2], [0, 0])
    assert found.at(1, 300).precision is None
    assert found.at(1, 300).recall is None
    assert found.at(0, STEPS).recall == 0.0
    assert found.examples == 2


def test_that_they_are_read_where_they_were_counted(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    true = np.array([0, 0, 1, 1])
    cells = ConfusionCells(np.array([0, 1]), np.array([0, 1]), np.array([2, 2]), ("a", "b"))
    known = classes_of(true, 2)
    write_confusion(layout.confusion, cells)
    assert read_thresholds(layout, FOUND, known) is None
    counts = counted(np.array([[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8]]), true)
    write_confusion(layout.confusion, cells, None, counts)
    found = read_thresholds(layout, FOUND, known)
    assert isinstance(found, Thresholds)
    assert found.most_f1(1) == 500
    assert read_thresholds(layout, FOUND.model_copy(update={"confusion_file": ""}), known) is None
    assert read_thresholds(layout, FOUND, ()) is None


def test_that_counts_of_other_examples_than_the_matrix_has_are_refused(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    true = np.array([0, 0, 1, 1])
    cells = ConfusionCells(np.array([0]), np.array([0]), np.array([4]), ("a", "b"))
    write_confusion(layout.confusion, cells, None, counted(np.full((4, 2), 0.5), true))
    found = read_thresholds(layout, FOUND, classes_of(np.array([0, 0, 0, 1]), 2))
    assert isinstance(found, Problem)
    assert found.code == "confusion_unread"
    assert "other numbers of examples" in found.detail


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (np.zeros((2, STEPS), np.int64), np.zeros((2, STEPS), np.int64)),
        (np.zeros((2, STEPS + 1), np.int64), np.zeros((1, STEPS + 1), np.int64)),
        (np.zeros((0, STEPS + 1), np.int64), np.zeros((0, STEPS + 1), np.int64)),
        (np.zeros((1, STEPS + 1), np.float32), np.zeros((1, STEPS + 1), np.int64)),
        (np.full((1, STEPS + 1), -1), np.zeros((1, STEPS + 1), np.int64)),
        (np.full((1, STEPS + 1), 2**60), np.zeros((1, STEPS + 1), np.int64)),
        (np.eye(2, STEPS + 1, dtype=np.int64), np.eye(2, STEPS + 1, -1, dtype=np.int64)),
        (np.zeros((1_001, STEPS + 1), np.int8), np.zeros((1_001, STEPS + 1), np.int8)),
    ],
)
def test_that_anything_else_is_refused(tmp_path: Path, own: np.ndarray, other: np.ndarray) -> None:
    path = tmp_path / "evaluation.npz"
    with path.open("wb") as file:
        write_npz(file, {"score_own": own, "score_other": other}, compressed=True)
    with pytest.raises(ValueError, match=r"count|classes"):
        read_score_counts(path)
