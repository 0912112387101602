"""A predicting run and its exported script name and number what the exports do.

``test_predict_script.py`` holds each export and its ``predict.py`` against the same outputs.
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import DeviceSettings, Profile
from tests.sessions.both import Both, carry_out_both

pytestmark = pytest.mark.tensorflow

NAMES = {
    "images": sorted(['"""; import os', "$(touch here)", "red\x1b[31m", "ä 'ö'"]),
    "table": ["cheap", "dear"],
    "houses": [],
    "texts": ["no", "yes"],
    "labels": ["0", "1"],
    "digits": [str(digit) for digit in range(10)],
}


FEW = ("images", "table")
FURTHER = tuple(name for name in NAMES if name not in FEW)
"""For ``make test-slow``."""


@pytest.fixture(scope="module")
def predicted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    return predict(folder, tmp_path_factory.mktemp("predicted"), FEW)


@pytest.fixture(scope="module")
def further(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    return predict(folder, tmp_path_factory.mktemp("further"), FURTHER)


def predict(folder: Path, root: Path, names: Iterable[str]) -> dict[str, Both]:
    settings = json.loads((folder / "data.json").read_text())
    sessions = {
        name: Profile.model_validate(
            {
                "task": "predict",
                "data": settings[name],
                "model": SavedModel(path=str(folder / f"{name}.keras")),
                "devices": DeviceSettings(visible=("cpu",)),
                "inference": InferenceSettings(batch_size=32, output="csv"),
            }
        )
        for name in names
    }
    return carry_out_both(root, sessions)


def numbers_meant(name: str, outputs: Any) -> np.ndarray:
    found = np.array(outputs)
    if name in ("table", "texts"):
        return np.concatenate([1 - found, found], axis=1)
    if name == "labels":
        return np.asarray(1 / (1 + np.exp(-found)))
    if name == "digits":
        return np.asarray(np.exp(found) / np.exp(found).sum(axis=1, keepdims=True))
    return found


@pytest.mark.parametrize("name", FEW)
def test_that_a_run_and_its_script_predict_what_the_exports_do(
    predicted: dict[str, Both], expected: dict[str, Any], name: str
) -> None:
    assert_alike(predicted[name], expected, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_that_they_do_so_with_further_models(
    further: dict[str, Both], expected: dict[str, Any], name: str
) -> None:
    assert_alike(further[name], expected, name)


def assert_alike(both: Both, expected: dict[str, Any], name: str) -> None:
    assert (both.error("run"), both.error("script")) == (None, None)
    both.assert_same_predictions()
    with both.run.predictions("csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    first = "probability of "
    assert [each.removeprefix(first) for each in header if each.startswith(first)] == NAMES[name]
    numbers = numbers_meant(name, expected[name])
    found = np.array([row[-numbers.shape[1] :] for row in rows]).astype(float)
    np.testing.assert_allclose(found, numbers, rtol=1e-5, atol=2e-6)
