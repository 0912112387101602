"""The bundled wines."""

import importlib.util
from types import ModuleType

import numpy as np
import pytest

from gpupanel.domain.data import Scaling, WineData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import changed, furthest, last_metrics, profile, train_all

WINE = WineData(validation_fraction=0.2)


def test_that_the_wines_are_those_of_scikit_learn(scikit_learn_datasets: ModuleType) -> None:
    expected = scikit_learn_datasets.load_wine()

    data = read_data(WINE, Reading(print))

    assert data.training.in_memory is not None
    assert np.array_equal(data.training.in_memory, expected.data.astype(np.float32))
    assert np.array_equal(data.training.labels, expected.target)
    assert data.class_names == tuple(expected.target_names)
    assert data.scaling is Scaling.STANDARDISE


def test_that_missing_wines_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(ProblemError) as caught:
        read_data(WINE, Reading(print))

    assert caught.value.problems[0].code == "data_wines_missing"


def test_that_wines_are_previewed_as_numbers() -> None:
    found = preview(PreviewRequest(data=WINE, example_limit=2))

    assert (found.example_count, found.feature_shape, found.problems) == (178, (13,), ())
    assert found.class_counts == (("class_0", 59), ("class_1", 71), ("class_2", 48))
    assert all(example.text and not example.pixels_base64 for example in found.examples)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """Trained on one device and on two, in one child."""
    wines = profile(changed(epochs=3, learning_rate=0.05), data=WINE)
    root = tmp_path_factory.mktemp("wine")
    return train_all(root, make_run, {"one": (wines, [32]), "two": (wines, [20, 12])})


@pytest.mark.tensorflow
def test_that_wines_are_distinguished_in_three_epochs(runs: dict[str, RunLayout]) -> None:
    metrics = last_metrics(runs["one"])

    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.8
    assert furthest(runs["one"], runs["two"]) < 1e-5
