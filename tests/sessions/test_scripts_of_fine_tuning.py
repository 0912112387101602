"""Layers that begin to learn later: what a run learns, and the exported script."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.sessions.both import Both, carry_out_both
from tests.unit.trainer.test_fine_tuning import ADAM, FEW, LATER, PLATEAU
from tests.unit.trainer.trained_runs import SMALL_BASE

pytestmark = [pytest.mark.tensorflow]


def session(
    path: Path, training: TrainingSettings, model: ApplicationModel, shares: tuple[int, ...] = ()
) -> Profile:
    kind = StrategyKind.MIRRORED if shares else StrategyKind.ONE_DEVICE
    return Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=len(shares) or 1),
        strategy=StrategySettings(kind=kind, shares=shares or "equal"),
        data=NpzData(path=str(path), validation_fraction=0.25),
        model=model,
        training=training,
    )


def images(path: Path) -> Path:
    random = np.random.default_rng(5)
    np.savez(path, x=random.integers(0, 256, (40, 32, 32, 3), np.uint8), y=np.arange(40) % 3)
    return path


DROPPED = FEW.model_copy(update={"dropout": 0.2})
MOMENTUM = {"optimizer": Optimizer.SGD, "momentum": 0.9, "weight_decay": 1e-2}


def assert_learned_alike(one: Both) -> None:
    assert (one.error("run"), one.error("script")) == (None, None)
    one.assert_same_epochs()
    assert one.furthest() < 1e-5


def test_that_a_script_learns_what_a_run_learns_to_the_last_bit_on_one_device(
    tmp_path: Path,
) -> None:
    sessions = {"one": session(images(tmp_path / "images.npz"), PLATEAU, LATER)}
    both = carry_out_both(tmp_path / "sessions", sessions, before=[SMALL_BASE])
    assert_learned_alike(both["one"])
    both["one"].assert_same_bits()


@pytest.mark.slow
def test_that_it_learns_it_on_two_replicas(tmp_path: Path) -> None:
    sessions = {"two": session(images(tmp_path / "images.npz"), PLATEAU, LATER, (9, 7))}
    both = carry_out_both(tmp_path / "sessions", sessions, before=[SMALL_BASE])
    assert_learned_alike(both["two"])


@pytest.mark.slow
def test_that_it_learns_it_averaged_with_micro_batches_and_where_nothing_begins_later(
    tmp_path: Path,
) -> None:
    path = images(tmp_path / "images.npz")
    sessions = {
        "averaged": session(path, ADAM.model_copy(update=MOMENTUM), DROPPED),
        "adam": session(path, ADAM.model_copy(update={"accumulation_steps": 2}), LATER),
        "never": session(path, PLATEAU.model_copy(update={"epochs": 2}), LATER),
    }
    both = carry_out_both(tmp_path / "sessions", sessions, before=[SMALL_BASE])
    for each in both.values():
        assert_learned_alike(each)
        each.assert_same_bits()


@pytest.mark.slow
def test_that_it_learns_it_with_xla_too(tmp_path: Path) -> None:
    compiled = PLATEAU.model_copy(update={"jit_compile": True})
    chosen = session(images(tmp_path / "images.npz"), compiled, FEW)
    one = carry_out_both(tmp_path / "session", {"one": chosen}, before=[SMALL_BASE])["one"]
    assert (one.error("run"), one.error("script")) == (None, None)
    one.assert_same_epochs()
    assert one.furthest() < 1e-5
