"""Networks that normalise batches are validated as what they have learned, after few steps, too."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, DigitsData, NpzData
from gpupanel.domain.model import ApplicationModel, CnnModel, MlpModel, ModelSettings, ResNetModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import changed, last_metrics, profile, train_all

pytestmark = pytest.mark.tensorflow

TRAINING = changed(
    optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, global_batch_size=16, epochs=6
)
DIGITS = DigitsData(validation_fraction=0.9)
"""Twelve steps an epoch."""
MODELS: dict[str, ModelSettings] = {
    "resnet": ResNetModel(filters=(8, 16), blocks=1),
    "cnn": CnnModel(filters=(8, 16), hidden=(32,), batch_norm=True),
    "mlp": MlpModel(hidden=(64,), batch_norm=True),
    "application": ApplicationModel(source="MobileNet"),
}


def images(path: Path) -> DataSettings:
    """Red or blue ones, noisy."""
    random = np.random.default_rng(5)
    labels = np.arange(240) % 2
    pixels = random.integers(0, 230, (240, 32, 32, 3))
    pixels[labels == 0, :, :, 0] += 12
    pixels[labels == 1, :, :, 2] += 12
    np.savez(path, x=pixels.astype(np.uint8), y=labels)
    return NpzData(path=str(path), validation_fraction=0.2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("few")
    of_its_own = {"application": images(root / "images.npz")}
    plans = {
        name: (profile(TRAINING, model=model, data=of_its_own.get(name, DIGITS)), [16])
        for name, model in MODELS.items()
    }
    return train_all(root / "runs", make_run, plans, small_base=True)


@pytest.mark.parametrize("name", MODELS)
def test_that_averages_of_the_first_weights_are_gone_within_few_epochs(
    runs: dict[str, RunLayout], name: str
) -> None:
    metrics = last_metrics(runs[name])
    assert metrics.accuracy is not None
    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > metrics.accuracy - 0.2
