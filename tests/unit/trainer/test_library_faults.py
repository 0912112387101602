"""What TensorFlow and Keras get wrong, and the trainer does itself: red when they no longer do."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def reported() -> dict[str, list[float]]:
    script = Path(__file__).with_name("library_faults.py")
    done = run_forked([sys.executable, str(script)], capture_output=True, text=True, check=True)
    answers: dict[str, list[float]] = json.loads(done.stdout)
    return answers


def test_that_keras_still_clips_before_it_sums(reported: dict[str, list[float]]) -> None:
    # 3 - 2 is 1, which needs no clipping; Keras clips both to 1 and -1, and nothing moves. Once it
    # moves as one device does, trainer/steps/update.py can leave the work to Optimizer.apply.
    one_device, two_replicas = reported["clipped"]

    assert one_device == pytest.approx(-1.0)
    assert two_replicas == pytest.approx(0.0)


def test_that_hierarchical_copy_still_loses_the_third_of_three_replicas(
    reported: dict[str, list[float]],
) -> None:
    # Once it is 7, planning/all_reduce_rules.py and make_strategy.py need no rule.
    assert reported["hierarchical_copy"] == [3.0, 3.0, 3.0]
