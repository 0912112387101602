"""Figures beside the loss are those of scikit-learn, however a set is divided."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.trainer.parts.scores import area_of, macro_f1, mean_area, mean_r2
from tests.forked.processes import run_forked

SCRIPT = Path(__file__).with_name("measure_sets.py")
TOLERANCES = {"r2": 1e-4, "root_mean_squared_error": 1e-3}
"""Labels of 90,000 have seven digits in float32."""
AREA_IN_TRAINING = 0.002
"""As people are told: scores are put into bins."""
CASES = {
    "ten classes": {"accuracy", "top_5_accuracy", "f1"},
    "three classes": {"accuracy", "f1"},
    "two classes": {"accuracy", "f1", "auc"},
    "several labels": {"accuracy", "f1", "auc"},
    "one value": {"mean_absolute_error", "root_mean_squared_error", "r2"},
    "three values": {"mean_absolute_error", "root_mean_squared_error", "r2"},
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    done = run_forked(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", CASES)
def test_that_validation_and_evaluation_measure_what_scikit_learn_does(
    found: dict[str, Any], name: str
) -> None:
    validated, evaluated, _, wanted = found[name]
    for measured in (validated, evaluated):
        assert set(measured) == {"loss", *CASES[name]}
        for key, value in wanted.items():
            tolerance = {"rel": TOLERANCES.get(key, 1e-6)}
            if key == "auc" and measured is validated:
                tolerance = {"abs": AREA_IN_TRAINING}
            assert measured[key] == pytest.approx(value, **tolerance), key
    for key in CASES[name] - {"auc"}:
        assert validated[key] == pytest.approx(evaluated[key], rel=1e-4), key


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "most_passes"),
    [
        ("two classes", 1),
        ("rare", 1),
        ("rare and close", 2),
        ("rare and closer", 2),
        ("rare and as close as can be", 3),
        ("far out", 3),
        ("equal scores", 5),
    ],
)
def test_that_the_area_is_right_however_close_scores_lie(
    found: dict[str, Any], name: str, most_passes: int
) -> None:
    validated, evaluated, passes, wanted = found[name]
    assert evaluated["auc"] == pytest.approx(wanted["auc"], abs=1e-9)
    assert validated["auc"] == pytest.approx(wanted["auc"], abs=AREA_IN_TRAINING)
    assert passes <= most_passes


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["rare, exactly", "rare and closer, exactly"])
def test_that_an_area_that_decides_is_exact(found: dict[str, Any], name: str) -> None:
    validated, _, passes, wanted = found[name]
    assert validated["auc"] == pytest.approx(wanted["auc"], abs=1e-12)
    assert 2 <= passes <= 4


def test_that_labels_that_all_examples_have_have_no_area() -> None:
    scores = np.asarray([[0.1, 3.0], [0.2, 1.0], [0.2, 2.0]], np.float32)
    has = np.asarray([[False, True], [True, True], [False, True]])
    assert area_of(scores, has) == pytest.approx(0.75)
    assert area_of(scores[:, 1:], has[:, 1:]) is None


def test_that_what_has_no_answer_is_none() -> None:
    none = np.zeros(2)
    assert macro_f1(none, none, none) is None
    some = np.asarray([[3.0, 0.0]])
    assert mean_area(some, np.zeros((1, 2))) is None
    assert mean_area(np.zeros((1, 2)), some) is None
    assert mean_r2(np.asarray([[1.0], [6.0], [12.0]]), 3) is None  # all labels are 2
    assert mean_r2(np.asarray([[1.0, 1.0], [6.0, 6.0], [12.0, 14.0]]), 3) == pytest.approx(0.5)


def test_that_the_area_counts_pairs_and_ties_by_half() -> None:
    has, has_not = np.asarray([[0.0, 1.0, 2.0]]), np.asarray([[1.0, 1.0, 1.0]])
    # Of nine pairs: the one in the middle is above one and level with one, the two above level.
    assert mean_area(has, has_not) == pytest.approx((1 + 0.5 + 2 * (2 + 0.5)) / 9)
