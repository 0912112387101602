"""Networks that normalise batches are validated as what they have learned, after few steps, too."""

import pytest

from gpupanel.domain.data import DataSettings, DigitsData
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, ResNetModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import changed, last_metrics, profile, train_all

pytestmark = pytest.mark.tensorflow

TRAINING = changed(
    optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, global_batch_size=16, epochs=6
)
FEW: DataSettings = DigitsData(validation_fraction=0.9)
"""Twelve steps an epoch."""
MODELS: dict[str, ModelSettings] = {
    "resnet": ResNetModel(filters=(8, 16), blocks=1),
    "cnn": CnnModel(filters=(8, 16), hidden=(32,), batch_norm=True),
    "mlp": MlpModel(hidden=(64,), batch_norm=True),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    profiles = {name: profile(TRAINING, model=model, data=FEW) for name, model in MODELS.items()}
    plans = {name: (each, [16]) for name, each in profiles.items()}
    return train_all(tmp_path_factory.mktemp("few"), make_run, plans)


@pytest.mark.parametrize("name", MODELS)
def test_that_averages_of_random_weights_are_gone_within_few_epochs(
    runs: dict[str, RunLayout], name: str
) -> None:
    metrics = last_metrics(runs[name])
    assert metrics.accuracy is not None and metrics.val_accuracy is not None
    assert metrics.val_accuracy > metrics.accuracy - 0.2
