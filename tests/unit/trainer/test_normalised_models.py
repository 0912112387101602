"""Batch normalisation wherever it stands in a model, against plain Keras and its own variables."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

MODELS = ("composite", "shared", "frozen", "inferring", "of_another_axis", "over_time", "masked")
OTHERS = ("one device", "central storage")
"""Strategies for ``make test-slow``."""


def measured(*strategies: str) -> dict[str, dict[str, float]]:
    script = Path(__file__).with_name("normalised_models.py")
    command = [sys.executable, str(script), *strategies]
    done = run_forked(command, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def distances() -> dict[str, dict[str, float]]:
    return measured("mirrored")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_that_a_step_of_two_replicas_does_what_keras_does_on_one_device(
    distances: dict[str, dict[str, float]], model: str
) -> None:
    assert distances[model]["mirrored"] < 1e-5


@pytest.mark.slow
def test_that_steps_of_other_strategies_do_so_too() -> None:
    found = measured(*OTHERS)
    assert max(found[model][strategy] for model in MODELS for strategy in OTHERS) < 1e-5
