"""Balanced shares of real runs: measured without a trace, the same mathematics, adjusted."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import Event, Phase, PhaseChanged, SharesChosen, decode_event
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.saving.checkpoint_files import STATE_FILE
from gpupanel.trainer.saving.checkpoints import Checkpoints
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import Plans

pytestmark = pytest.mark.tensorflow

EVERYTHING = MlpModel(hidden=(32,), batch_norm=True, dropout=0.3)
NORMED = MlpModel(hidden=(32,), batch_norm=True)
PLAIN = MlpModel(hidden=(32,))


def profile(model: MlpModel, *, balanced: bool, accumulation_steps: int = 1) -> Profile:
    return Profile(
        data=DigitsData(validation_fraction=0.2),
        model=model,
        training=TrainingSettings(
            epochs=3, accumulation_steps=accumulation_steps, tensorboard=False
        ),
        strategy=StrategySettings(shares="balanced" if balanced else "equal"),
    )


def run_child(script: Path, *arguments: Path | str) -> str:
    done = run_forked(
        [sys.executable, str(script), *map(str, arguments)],
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "GPUPANEL_SUPERVISOR_PID": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, Any]:
    layout = make_run(
        tmp_path_factory.mktemp("measured"), profile(EVERYTHING, balanced=True), [32, 32]
    )
    found: dict[str, Any] = json.loads(
        run_child(Path(__file__).with_name("measure_shares.py"), layout.root).splitlines()[-1]
    )
    return {"layout": layout, **found}


@pytest.mark.long
def test_that_measuring_leaves_no_trace(measured: dict[str, Any]) -> None:
    names = measured["names"]

    assert any(name.startswith("random/") for name in names)
    assert any("moving_mean" in name for name in names)
    assert any("optimizer/" in name for name in names)
    assert all(measured["unchanged"])
    # A step does change them: they were looked at in the right place.
    fixed = [name for name, yes in zip(names, measured["learned"], strict=True) if not yes]
    # What is drawn follows from the step: no generator of random numbers moves on.
    changing = [name for name in fixed if not name.startswith("random/")]
    assert [name for name in changing if "learning_rate" not in name] == []


@pytest.mark.long
def test_that_what_was_measured_is_reported(measured: dict[str, Any]) -> None:
    found = events(measured["layout"])
    (chosen,) = [event for event in found if isinstance(event, SharesChosen)]

    assert [event.phase for event in found if isinstance(event, PhaseChanged)] == [Phase.MEASURING]
    assert (chosen.reason, chosen.step) == ("measured", 2)
    assert sum(chosen.shares) == 64
    assert [speed.replica for speed in chosen.speeds] == [0, 1]
    assert all(speed.examples_per_second > 0.0 for speed in chosen.speeds)
    assert all(speed.largest_share is None for speed in chosen.speeds)


@pytest.mark.long
def test_that_more_examples_take_longer(measured: dict[str, Any]) -> None:
    # TensorFlow skips what nobody uses: then there would be nothing to measure.
    for few_s, many_s in zip(*measured["tried_s"], strict=True):
        assert many_s > 3.0 * few_s


@pytest.mark.long
def test_that_the_memory_of_one_replica_bounds_its_share_only(measured: dict[str, Any]) -> None:
    first, second = measured["largest"]

    assert first is None
    assert 14 <= second <= 20


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    plans = {
        "accumulated, balanced": (profile(PLAIN, balanced=True, accumulation_steps=4), [32, 32]),
        "one device": (profile(PLAIN, balanced=False), [64]),
    }
    return train(tmp_path_factory.mktemp("balanced"), make_run, plans)


@pytest.fixture(scope="module")
def further(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    plans = {
        "balanced": (profile(PLAIN, balanced=True), [32, 32]),
        "normed, balanced": (profile(NORMED, balanced=True), [32, 32]),
        "one device": (profile(PLAIN, balanced=False), [64]),
        "normed": (profile(NORMED, balanced=False), [64]),
    }
    return train(tmp_path_factory.mktemp("further"), make_run, plans)


def train(root: Path, make_run: MakeRun, plans: Plans) -> dict[str, RunLayout]:
    layouts = {name: make_run(root / name, *plan) for name, plan in plans.items()}
    script = Path(__file__).parents[1] / "train_several.py"
    run_child(script, *(layout.root for layout in layouts.values()), "--as-written")
    return layouts


def test_that_balanced_shares_give_the_weights_of_one_device(
    trained: dict[str, RunLayout],
) -> None:
    assert_alike(trained["accumulated, balanced"], trained["one device"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "like", "most"),
    [("balanced", "one device", 1e-5), ("normed, balanced", "normed", 1e-4)],
)
def test_that_further_balanced_shares_do_so_too(
    further: dict[str, RunLayout], name: str, like: str, most: float
) -> None:
    assert_alike(further[name], further[like], most)


def assert_alike(balanced: RunLayout, one_device: RunLayout, most: float = 1e-5) -> None:
    assert furthest(balanced, one_device) < most
    assert any(isinstance(event, SharesChosen) for event in events(balanced))
    assert not any(isinstance(event, SharesChosen) for event in events(one_device))


def events(layout: RunLayout) -> list[Event]:
    return [decode_event(line) for line in layout.events.read_text(encoding="utf-8").splitlines()]


def furthest(one: RunLayout, other: RunLayout) -> float:
    """The greatest difference of two states, relative to the size of the variable."""
    states = []
    for layout in (one, other):
        with np.load(Checkpoints(layout.checkpoints).saved()[-1] / STATE_FILE) as arrays:
            states.append([arrays[name] for name in arrays])
    return max(
        float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-12))
        for a, b in zip(*states, strict=True)
    )
