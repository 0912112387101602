"""Architectures of Keras's: what a run learns, and the exported script, under several strategies.

Such a network is traced for half a minute: these are for ``make test-slow``, and the quick tests of
``tests/unit/trainer/test_applications.py`` stay.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.events import ModelReady, decode_event
from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Optimizer, TrainingSettings
from tests.forked.processes import run_forked
from tests.sessions.both import Both, carry_out_both, furthest, weights

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

ROUNDING = 1e-5
NAME = "MobileNetV3Small"
SGD = TrainingSettings(
    epochs=2,
    global_batch_size=16,
    optimizer=Optimizer.SGD,
    learning_rate=0.01,
    momentum=0.9,
    tensorboard=False,
)
_SAVE = """
import sys, keras
keras.utils.set_random_seed(3)
make = keras.applications.MobileNetV3Small
make(weights=None, include_top=False, input_shape=(32, 32, 3)).save_weights(sys.argv[1])
make(weights=None, input_shape=(48, 48, 3)).save_weights(sys.argv[2])
"""


def session(data: Path, replicas: int, shares: object, model: ApplicationModel) -> Profile:
    several = replicas > 1
    return Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=replicas),
        strategy=StrategySettings(
            kind=StrategyKind.MIRRORED if several else StrategyKind.ONE_DEVICE, shares=shares
        ),
        data=NpzData(path=str(data), validation_fraction=0.25),
        model=model,
        training=SGD,
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images in colour and in grey, and weights that were learned elsewhere."""
    root = tmp_path_factory.mktemp("applications")
    random = np.random.default_rng(5)
    for name, shape in (("colour", (32, 34, 3)), ("grey", (33, 32))):
        pixels = random.integers(0, 256, (40, *shape), dtype=np.uint8)
        np.savez(root / f"{name}.npz", x=pixels, y=np.arange(40) % 3)
    files = [str(root / name) for name in ("base.weights.h5", "whole.weights.h5")]
    run_forked([sys.executable, "-c", _SAVE, *files], check=True, capture_output=True)
    return root


@pytest.fixture(scope="module")
def learned(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    base, whole = (str(root / name) for name in ("base.weights.h5", "whole.weights.h5"))
    few = ApplicationModel(source=NAME, weights=base, frozen_layers=3, dropout=0.2)
    head = ApplicationModel(source=NAME, weights=whole, frozen_layers="base")
    later = few.model_copy(update={"fine_tune_from_epoch": 2, "fine_tune_learning_rate": 1e-3})
    chosen = {
        "the last layers": session(root / "colour.npz", 1, "equal", few),
        "the head": session(root / "colour.npz", 1, "equal", head),
        "the head, of two replicas": session(root / "colour.npz", 2, (13, 3), head),
        "the last layers, later": session(root / "colour.npz", 1, "equal", later),
        "the last layers, later, of two replicas": session(
            root / "colour.npz", 2, (13, 3), later.model_copy(update={"dropout": 0.0})
        ),
    }
    return carry_out_both(tmp_path_factory.mktemp("learned"), chosen)


@pytest.fixture(scope="module")
def whole(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    drawn = ApplicationModel(source=NAME)
    chosen = {
        "one device": session(root / "grey.npz", 1, "equal", drawn),
        "two replicas": session(root / "grey.npz", 2, (13, 3), drawn),
    }
    return carry_out_both(tmp_path_factory.mktemp("whole"), chosen)


def trainable(both: Both) -> int:
    lines = both.run.events.read_text().splitlines()
    (ready,) = (each for each in map(decode_event, lines) if isinstance(each, ModelReady))
    return ready.trainable_parameters


def assert_same(both: Both) -> None:
    assert (both.error("run"), both.error("script")) == (None, None)
    assert both.furthest() < ROUNDING
    both.assert_same_epochs()


@pytest.mark.parametrize(
    "name",
    [
        "the last layers",
        "the head",
        "the head, of two replicas",
        "the last layers, later",
        "the last layers, later, of two replicas",
    ],
)
def test_that_a_script_ends_with_the_weights_of_a_run_that_goes_on_from_a_file(
    learned: dict[str, Both], name: str
) -> None:
    assert_same(learned[name])


def test_that_frozen_layers_keep_the_weights_of_the_file(learned: dict[str, Both]) -> None:
    # A mean over 576 channels, then 3 classes.
    assert trainable(learned["the head"]) == 577 * 3
    assert trainable(learned["the last layers"]) > 577 * 3
    one, two = (weights(learned[name].run.model) for name in ("the head", "the last layers"))
    assert furthest(one, weights(learned["the head, of two replicas"].run.model)) < ROUNDING
    moved = {name for name, array in one.items() if not np.array_equal(array, two[name])}
    assert 0 < len(moved) < len(one) / 2


@pytest.mark.parametrize("name", ["one device", "two replicas"])
def test_that_a_script_ends_with_the_weights_of_a_run_that_learns_all_of_it(
    whole: dict[str, Both], name: str
) -> None:
    assert_same(whole[name])


def test_that_two_replicas_learn_what_one_device_learns(whole: dict[str, Both]) -> None:
    one, two = (weights(whole[name].run.model) for name in ("one device", "two replicas"))
    assert furthest(one, two) < ROUNDING
