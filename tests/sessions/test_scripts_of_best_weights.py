"""The exported script's model is that of the same epoch as the run's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import DataSettings, NpzData
from gpupanel.domain.events import EpochDone, ModelSaved, decode_event
from gpupanel.domain.model import MlpModel, ModelSettings
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.sessions.both import Both, carry_out_both
from tests.sessions.test_scripts_of_fine_tuning import images
from tests.unit.trainer.test_best_weights import noisy
from tests.unit.trainer.test_fine_tuning import FEW
from tests.unit.trainer.trained_runs import SMALL_BASE

pytestmark = pytest.mark.tensorflow

ADAM = TrainingSettings(
    epochs=9, global_batch_size=8, optimizer=Optimizer.ADAM, learning_rate=1e-2, tensorboard=False
)
NORMED = MlpModel(hidden=(48,), batch_norm=True)


def session(
    data: DataSettings, model: ModelSettings, shares: tuple[int, ...] = (), **training: Any
) -> Profile:
    kind = StrategyKind.MIRRORED if shares else StrategyKind.ONE_DEVICE
    return Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=len(shares) or 1),
        strategy=StrategySettings(kind=kind, shares=shares or "equal"),
        data=data,
        model=model,
        training=ADAM.model_copy(update=training),
    )


CHOSEN = "by area, stopped early"
OTHERS = (
    "averaged on two replicas",
    *("normed, stopped early", "the last", "fine tuned and averaged", "by accuracy"),
    *("by F1 of labels", "by area of labels", "by R², stopped early", "by F1 of classes, averaged"),
    "the last, stopped by accuracy",
)
"""For ``make test-slow``."""


def carried_out(root: Path, names: tuple[str, ...]) -> dict[str, Both]:
    data = noisy(root)
    pictures = NpzData(path=str(images(root / "images.npz")), validation_fraction=0.25)
    wide = MlpModel(hidden=(64, 64))
    accuracy: dict[str, Any] = {"best_metric": BestMetric.ACCURACY, "epochs": 14}
    random = np.random.default_rng(3)
    x = random.normal(size=(120, 12)).astype(np.float32)
    labels = (x[:, :3] + random.normal(size=(120, 3)) > 0.3).astype(np.uint8)
    np.savez(root / "labels.npz", x=x, y=labels)
    np.savez(root / "values.npz", x=x, y=x[:, :2] * 7 + random.normal(size=(120, 2)) * 5 + 100)
    several = NpzData(path=str(root / "labels.npz"), predicts="labels", validation_fraction=0.4)
    values = NpzData(path=str(root / "values.npz"), predicts="values", validation_fraction=0.4)
    f1, area, r2 = BestMetric.F1, BestMetric.AUC, BestMetric.R2
    stopped: dict[str, Any] = {"early_stopping_patience": 3, "epochs": 40, "validate_every": 2}
    tuned = {"ema": 0.5, "epochs": 4, "learning_rate": 0.03, "best_metric": f1}
    sessions = {
        "by area, stopped early": session(data, wide, best_metric=area, **stopped),
        "by F1 of labels": session(
            several, wide, (5, 3), best_metric=f1, keep=Keep.BEST, epochs=25
        ),
        "by area of labels": session(several, wide, best_metric=area),
        "by R², stopped early": session(values, wide, best_metric=r2, **stopped),
        "by F1 of classes, averaged": session(pictures, FEW, **tuned),
        "the last, stopped by accuracy": session(
            data, wide, keep=Keep.LAST, best_metric=BestMetric.ACCURACY, **stopped
        ),
        "averaged on two replicas": session(data, NORMED, (5, 3), ema=0.9),
        "by accuracy": session(data, wide, learning_rate=3e-3, **accuracy),
        "normed, stopped early": session(data, NORMED, early_stopping_patience=3, epochs=40),
        "the last": session(data, wide, keep=Keep.LAST, epochs=3),
        "fine tuned and averaged": session(pictures, FEW, ema=0.5, epochs=4, learning_rate=0.03),
    }
    wanted = {name: sessions[name] for name in names}
    return carry_out_both(root / "sessions", wanted, before=[SMALL_BASE])


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    return carried_out(tmp_path_factory.mktemp("others"), OTHERS)


def test_that_a_script_keeps_the_weights_of_the_epoch_that_the_run_keeps(tmp_path: Path) -> None:
    assert_kept_alike(carried_out(tmp_path, (CHOSEN,))[CHOSEN], is_best=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_that_other_scripts_keep_the_weights_of_the_epoch_that_the_run_keeps(
    others: dict[str, Both], name: str
) -> None:
    assert_kept_alike(others[name], is_best=not name.startswith("the last"))


def assert_kept_alike(one: Both, *, is_best: bool) -> None:
    assert (one.error("run"), one.error("script")) == (None, None)
    events = [decode_event(line) for line in one.run.events.read_text().splitlines()]
    (saved,) = (event for event in events if isinstance(event, ModelSaved))
    last = [event for event in events if isinstance(event, EpochDone)][-1].epoch

    assert saved.epoch is not None
    assert (saved.epoch < last) == is_best
    # With the figures of the test set, measured with these weights.
    one.assert_same_epochs()
    assert one.furthest() < 1e-4
