"""What labels are, by how they look, and what they must be."""

import numpy as np
import pytest

from gpupanel.domain.data import Target
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.labels import checked_labels

NAME = ArrayName("data.npz", "y", "data.labels")
ONE_HOT = np.eye(4)[[0, 2, 1, 0]]
SEVERAL = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("raw", "target", "array", "outputs"),
    [
        (np.array([0, 2, 1]), "classes", [0, 2, 1], 3),
        (np.array([[0], [2], [1]]), "classes", [0, 2, 1], 3),
        (np.array([True, False]), "classes", [1, 0], 2),
        (np.array([0.0, 1.0, 2.0]), "classes", [0, 1, 2], 3),
        (np.array([0.0, 2.0]), "values", [0.0, 2.0], 0),
        (np.array([120.0, 350.0]), "values", [120.0, 350.0], 0),
        (np.array([0.5, 1.0]), "values", [0.5, 1.0], 0),
        (ONE_HOT, "classes", [0, 2, 1, 0], 4),
        (ONE_HOT.astype(bool), "classes", [0, 2, 1, 0], 4),
        (SEVERAL, "labels", SEVERAL.tolist(), 3),
        (SEVERAL * 2, "values", (SEVERAL * 2).tolist(), 0),
        (np.array([[0.1, 3.0], [2.0, 4.0]]), "values", np.float32([[0.1, 3], [2, 4]]).tolist(), 0),
    ],
)
def test_that_what_labels_are_is_found(
    raw: Array, target: str, array: list[object], outputs: int
) -> None:
    found = checked_labels(raw, NAME, None)

    assert (found.target, found.outputs) == (Target(target), outputs)
    assert found.array.tolist() == array
    assert found.array.dtype == (np.int32 if target == "classes" else np.float32)


def test_that_what_was_chosen_is_taken() -> None:
    assert checked_labels(np.array([3, 5]), NAME, Target.VALUES).array.tolist() == [3.0, 5.0]
    one = checked_labels(np.array([1, 0, 1]), NAME, Target.LABELS)
    assert (one.array.tolist(), one.outputs) == ([[1.0], [0.0], [1.0]], 1)
    assert checked_labels(ONE_HOT, NAME, Target.LABELS).array.tolist() == ONE_HOT.tolist()
    assert checked_labels(ONE_HOT, NAME, Target.VALUES).target is Target.VALUES
    assert checked_labels(np.array([0.0, 2.0]), NAME, Target.CLASSES).outputs == 3


@pytest.mark.parametrize(
    ("raw", "target", "code"),
    [
        (SEVERAL, Target.CLASSES, "data_labels_not_one_each"),
        (np.zeros((2, 2, 2)), None, "data_labels_not_one_each"),
        (np.zeros((0, 3)), None, "data_empty"),
        (SEVERAL * 2, Target.LABELS, "data_labels_not_zero_or_one"),
        (np.array(["a", "b"]), Target.LABELS, "data_labels_not_zero_or_one"),
        (np.array([["a", "b"]]), None, "data_labels_not_finite"),
        (np.array([[1.0, np.nan]]), None, "data_labels_not_finite"),
        (np.array([np.inf, 1.0]), None, "data_labels_not_finite"),
        (np.zeros((1, 100_001), np.uint8), None, "data_labels_out_of_range"),
        (np.array([0, 0]), None, "data_one_class"),
        (np.array([-1, 1]), None, "data_labels_negative"),
    ],
)
def test_that_labels_that_are_none_are_refused_with_a_reason(
    raw: Array, target: Target | None, code: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        checked_labels(raw, NAME, target)
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (code, "data.labels")
    assert problem.hint
    assert 'Array "y" in data.npz' in problem.message


def test_that_the_columns_must_be_as_many_as_labels_are_named() -> None:
    with pytest.raises(ProblemError, match="3 columns, but there are 2 labels"):
        checked_labels(SEVERAL, NAME, Target.LABELS, 2)
