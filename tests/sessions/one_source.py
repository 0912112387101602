"""What the tests of one source's scripts share: each is read, trained and inferred twice."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gpupanel.domain.data import DataSettings
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked
from tests.sessions.both import Both, carry_out_both

ROUNDING = 1e-5
SEED = 5
"""Of what ``read_both.py`` draws."""


def filled(data: DataSettings) -> DataSettings:
    """With all that a preview finds."""
    shown = preview(PreviewRequest(data=data, seed=SEED))
    assert not shown.is_refused, shown.problems
    return with_detected(Profile(data=data), shown).data


def assert_same_data(
    all_data: Iterable[DataSettings], start: Callable[..., Any] = run_forked
) -> None:
    """A script reads each as the run does.

    Args:
        all_data: As a person chose it.
        start: As ``subprocess.run``: carries out both readings.
    """
    asked = [filled(data) for data in all_data]
    done = start(
        [sys.executable, str(Path(__file__).with_name("read_both.py"))],
        input=json.dumps([data.model_dump(mode="json") for data in asked]),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout) == [[]] * len(asked)


def trained_with(learning_rate: float, **changes: object) -> TrainingSettings:
    """Two epochs."""
    chosen = {"epochs": 2, "optimizer": Optimizer.SGD, "momentum": 0.9, "tensorboard": False}
    return TrainingSettings(**{**chosen, "learning_rate": learning_rate, **changes})


def session(**parts: object) -> Profile:
    """Of two replicas, unless it says otherwise."""
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, shares=(40, 24))
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=2)
    return Profile(**{"devices": devices, "strategy": mirrored, **parts})


def assert_same_sessions(
    folder: Path,
    trained: Mapping[str, Profile],
    inferred: Iterable[tuple[str, str, DataSettings, InferenceSettings]],
) -> dict[str, Both]:
    """Run and script train, evaluate and predict alike.

    Args:
        folder: For their files.
        trained: Sessions by name.
        inferred: Of each the session whose model is used, the task, its data and settings.

    Returns:
        All of them; one that infers is called by its task and the session ("predict table").
    """
    models = {
        name: SavedModel(path=str(folder / f"{number:03}" / "model.keras"))
        for number, name in enumerate(trained)
    }
    sessions = dict(trained)
    for name, task, data, inference in inferred:
        parts = {"task": task, "data": data, "model": models[name], "inference": inference}
        sessions[f"{task} {name}"] = session(**parts)
    both = carry_out_both(folder, sessions)
    errors = {name: (each.error("run"), each.error("script")) for name, each in both.items()}
    failed = {name: pair for name, pair in errors.items() if pair != (None, None)}
    assert not failed, failed
    for name, each in both.items():
        if name in trained:
            assert each.furthest() < ROUNDING, name
            each.assert_same_epochs()
        elif name.startswith("evaluate"):
            each.assert_same_evaluation()
        else:
            each.assert_same_predictions()
    return both
