"""The memory of a step is found out from its graph, close to what TensorFlow reports of one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.trainer.trained_runs import COUNTED

pytestmark = pytest.mark.tensorflow
SCRIPT = Path(__file__).with_name("estimate_memory.py")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **COUNTED, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_that_buffers_are_counted_from_where_they_are_made_to_where_they_are_read(
    found: dict[str, Any],
) -> None:
    assert found["graphs"] == {
        "in place": 1,
        "kept twice": 2,
        "freed": 2,
        "reshaped": 1,
        "unused": 1,
    }


def test_that_the_greatest_moment_is_kept_for_every_number_of_examples(
    found: dict[str, Any],
) -> None:
    assert found["envelope"]


@pytest.mark.parametrize("name", ["dense", "convolutions"])
def test_that_an_estimate_is_close_to_the_peak_of_a_step(found: dict[str, Any], name: str) -> None:
    for estimated, measured in found["models"][name]["rows"]:
        assert 0.7 < estimated / measured < 1.3


def test_that_weights_and_examples_are_exact(found: dict[str, Any]) -> None:
    dense, convolutions = found["models"]["dense"], found["models"]["convolutions"]
    assert dense["weights"] == dense["learned"] == 4 * (257 * 512 + 513 * 1024 + 1025 * 4)
    assert dense["kept"] == dense["example"]
    assert found["kept_pixels"] == 8 * 8 * 2 + 4  # halves on a GPU
    assert dense["largest"] == 4 * 512 * 1024
    assert convolutions["weights"] - convolutions["learned"] == 4 * 2 * 16
    assert (dense["example"], convolutions["example"]) == (256 * 4 + 4, 32 * 32 * 3 * 4 + 4)
