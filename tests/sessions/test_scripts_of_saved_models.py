"""Scripts that train a saved model further end with the weights of the run."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, NpzData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import Head, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.strategy import StrategySettings
from tests.sessions.one_source import assert_same_sessions, session, trained_with
from tests.unit.trainer.saved_models import make_saved_models

pytestmark = pytest.mark.tensorflow

ALONE = {"devices": DeviceSettings(visible=("cpu",)), "strategy": StrategySettings()}


def test_that_run_and_script_give_the_same_weights_and_evaluations(tmp_path: Path) -> None:
    made = make_saved_models(tmp_path)
    random = np.random.default_rng(5)
    x = random.integers(0, 17, (120, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "three.npz", x=x, y=(x[:, 0, 0] // 6).astype(np.int64))
    np.savez(tmp_path / "values.npz", x=x, y=(1000 + 3 * x[:, 0, 0]).astype(np.float32))
    three = NpzData(path=str(tmp_path / "three.npz"), validation_fraction=0.2)
    values = NpzData(
        path=str(tmp_path / "values.npz"), predicts=Target.VALUES, validation_fraction=0.2
    )
    digits = DigitsData(validation_fraction=0.9)
    adam = trained_with(3e-3, optimizer=Optimizer.ADAM)
    sgd = trained_with(1e-2)

    def saved(name: str, **settings: object) -> SavedModel:
        return SavedModel(path=str(made / f"{name}.keras"), **settings)

    trained = {
        "kept": session(data=digits, model=saved("classifier"), training=adam),
        "new, frozen": session(
            data=three,
            model=saved("classifier", head=Head.NEW, frozen_layers="base"),
            training=adam,
            **ALONE,
        ),
        "new on a backbone": session(
            data=three, model=saved("backbone", head=Head.NEW, frozen_layers=2), training=sgd
        ),
        "new, later": session(
            data=three,
            model=saved("backbone", head=Head.NEW, fine_tune_from_epoch=2),
            training=sgd,
        ),
        "kept, later": session(
            data=digits,
            model=saved(
                "classifier",
                frozen_layers=1,
                fine_tune_from_epoch=2,
                fine_tune_learning_rate=1e-3,
            ),
            training=adam,
        ),
        "values": session(data=values, model=saved("values"), training=sgd, **ALONE),
        "mixed": session(data=digits, model=saved("mixed"), training=adam, **ALONE),
        "whole numbers": session(data=digits, model=saved("counting"), training=adam, **ALONE),
    }
    everything = InferenceSettings(batch_size=64, examples="all")
    inferred = (
        ("kept", "evaluate", digits, everything),
        ("new on a backbone", "evaluate", three, everything),
        ("values", "evaluate", values, everything),
    )
    assert_same_sessions(tmp_path, trained, inferred)
