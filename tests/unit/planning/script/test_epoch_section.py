"""A script's epochs are those of the run's loop: what they remember, and where they end."""

import contextlib
import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import DigitsData, PythonData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.script.epoch_needs import epoch_needs
from gpupanel.planning.script.epoch_section import epoch_section
from gpupanel.trainer.loop.early_stopping import after_epoch, reason_to_stop
from gpupanel.trainer.saving.position import Position

PLATEAU = ScheduleSettings(kind="reduce_on_plateau", factor=0.5, patience_epochs=2)
RANDOM = np.random.default_rng(11)
LOSSES = [0.5 + RANDOM.normal(size=(2, 24)) * 0.2 for _ in range(12)]
"""Of training and validation, epoch by epoch."""

Course = tuple[list[int], list[int], int | None, float]
"""The epochs that were trained, those that were validated, the best one, and the rate."""


def by_script(profile: Profile, losses: Any, held_out: int) -> Course:
    trained: list[int] = []
    validated: list[int] = []

    def mean_over(step: str, *_: object) -> tuple[float, float]:
        if step == "train":
            trained.append(len(trained) + 1)
            return losses[0][len(trained) - 1], 0.5
        validated.append(len(trained))
        return losses[1][len(trained) - 1], 0.5

    names: dict[str, Any] = {
        "np": np,
        "EPOCHS": profile.training.epochs,
        "SEED": 1,
        "MEASURE": "accuracy",
        "x": [0],
        "y": [0],
        "x_val": [0] * held_out,
        "y_val": [0] * held_out,
        "train_step": "train",
        "evaluation_step": "evaluate",
        "mean_over": mean_over,
        "measured_weights": lambda: [len(trained)],
        "optimizer": SimpleNamespace(learning_rate=profile.training.learning_rate),
    }
    with contextlib.redirect_stdout(io.StringIO()):
        exec(epoch_section(epoch_needs(profile), profile, ""), names)
    best = names["best_epoch"] if names.get("kept") is not None else None
    assert names.get("kept") in (None, [best])
    return trained, validated, best, names["optimizer"].learning_rate


def by_run(profile: Profile, losses: Any, held_out: int) -> Course:
    training, validates = profile.training, held_out > 0
    position, validated = Position(), []
    while position.epoch <= training.epochs:
        if reason_to_stop(position, training, validates=validates) is not None:
            break
        epoch = position.epoch
        metrics = Metrics(loss=losses[0][epoch - 1])
        if validates and training.validates_after(epoch):
            validated.append(epoch)
            metrics = Metrics(loss=metrics.loss, val_loss=losses[1][epoch - 1])
        position = after_epoch(position, metrics, training.schedule, validates=validates)
    best = None if position.best is None or training.keep is Keep.LAST else position.best.epoch
    rate = training.learning_rate * position.rate_factor
    return list(range(1, position.epoch)), validated, best, rate


@pytest.mark.parametrize("every", [1, 2, 5, 30])
@pytest.mark.parametrize("patience", [None, 1, 4])
@pytest.mark.parametrize("schedule", [ScheduleSettings(), PLATEAU], ids=["constant", "plateau"])
@pytest.mark.parametrize("keep", [None, Keep.LAST])
@pytest.mark.parametrize("held_out", [1, 0])
def test_that_epochs_are_validated_compared_and_ended_as_the_run_does(
    every: int,
    patience: int | None,
    schedule: ScheduleSettings,
    keep: Keep | None,
    held_out: int,
) -> None:
    training = TrainingSettings(
        epochs=24,
        validate_every=every,
        early_stopping_patience=patience,
        schedule=schedule,
        keep=keep,
    )
    # Whether the code brings a test set, which then validates, is known when it runs.
    maybe = Profile(data=PythonData(path="/d.py"), model=MlpModel(), training=training)
    certainly = maybe.model_copy(update={"data": DigitsData(validation_fraction=0.2)})
    for losses in LOSSES:
        for profile in (maybe, certainly) if held_out else (maybe,):
            found, wanted = (course(profile, losses, held_out) for course in (by_script, by_run))
            assert found[:3] == wanted[:3]
            assert found[3] == pytest.approx(wanted[3])


def test_that_a_script_of_each_epoch_says_nothing_about_which_are_validated() -> None:
    profile = Profile(data=DigitsData(validation_fraction=0.2), training=TrainingSettings())
    assert "is_due" not in epoch_section(epoch_needs(profile), profile, "")
    last = profile.training.model_copy(update={"epochs": 1, "validate_every": 9})
    one = profile.model_copy(update={"training": last})
    assert "is_due" not in epoch_section(epoch_needs(one), one, "")
