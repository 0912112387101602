"""Batch normalisation wherever it stands in a model, against plain Keras and its own variables."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

MODELS = ("composite", "shared", "frozen", "inferring", "of_another_axis", "over_time", "masked")
STRATEGIES = ("one device", "mirrored")


def measured(*strategies: str) -> dict[str, dict[str, float]]:
    script = Path(__file__).with_name("normalised_models.py")
    command = [sys.executable, str(script), *strategies]
    done = run_forked(command, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def distances() -> dict[str, dict[str, float]]:
    return measured(*STRATEGIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("model", MODELS)
def test_that_a_step_does_what_keras_does_on_one_device(
    distances: dict[str, dict[str, float]], model: str, strategy: str
) -> None:
    assert distances[model][strategy] < 1e-5


@pytest.mark.slow
def test_that_a_step_of_central_storage_does_so_too() -> None:
    found = measured("central storage")
    assert max(found[model]["central storage"] for model in MODELS) < 1e-5
