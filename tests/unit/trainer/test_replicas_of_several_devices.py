"""Replicas whose layers are on several devices learn what replicas of one device learn."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.events import LayersPlaced, SharesChosen
from gpupanel.domain.model import ApplicationModel, CnnModel, MlpModel, ModelSettings
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.forked.processes import run_forked
from tests.grouped import Grouped
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_recompute import DIGITS, FEW
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    all_events,
    furthest,
    last_metrics,
    profile,
    train_all,
    variables,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

LARGE = FEW.model_copy(
    update={
        "optimizer": Optimizer.ADAMW,
        "learning_rate": 3e-3,
        "clip_norm": 0.5,
        "ema": 0.9,
        "schedule": ScheduleSettings(kind="one_cycle"),
    }
)
MLP = MlpModel(hidden=(48, 24))
NORMED = CnnModel(filters=(4,), hidden=(24,), batch_norm=True)
DROPPING = CnnModel(filters=(4,), hidden=(24,), batch_norm=True, dropout=0.2)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


def layered(devices: int = 2, **settings: object) -> StrategySettings:
    kind = StrategyKind.MODEL_PARALLEL
    return StrategySettings.model_validate(
        {"kind": kind, "devices_per_replica": devices, **settings}
    )


def of(training: TrainingSettings, strategy: StrategySettings, model: ModelSettings) -> Profile:
    return profile(training, strategy, model=model, data=DIGITS)


IN_PARTS = LARGE.model_copy(update={"accumulation_steps": 4})
AGAIN = IN_PARTS.model_copy(
    update={"recompute": "blocks", "mixed_precision": True, "half_precision": "float16"}
)
RUNS: dict[str, tuple[Profile, Sequence[int]]] = {
    "one device": (of(LARGE, StrategySettings(), NORMED), [64]),
    "two by two": (of(LARGE, layered(), NORMED), [40, 24]),
    "two replicas": (of(LARGE, MIRRORED, NORMED), [40, 24]),
    "by hand": (of(FEW, layered(3, placement={"dense_1": 2, "outputs": 0}), MLP), [56, 8]),
    "by hand, two replicas": (of(FEW, MIRRORED, MLP), [56, 8]),
    "in turn": (of(IN_PARTS, layered(), DROPPING), [40, 24]),
    "in a pipeline": (of(IN_PARTS, layered(pipeline=True), DROPPING), [40, 24]),
    "in parts": (of(IN_PARTS, MIRRORED, DROPPING), [40, 24]),
    "again in a pipeline": (of(AGAIN, layered(pipeline=True), DROPPING), [24, 24, 16]),
    "again in parts": (of(AGAIN, MIRRORED, DROPPING), [24, 24, 16]),
    "measured shares": (of(FEW, layered(shares="balanced"), MLP), [32, 32]),
}
GROUPS = (
    ("one device", "two by two"),
    ("two replicas",),
    ("by hand", "by hand, two replicas"),
    ("in turn", "in a pipeline", "in parts"),
    ("again in a pipeline", "again in parts"),
    ("measured shares",),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        chosen = {name: RUNS[name] for name in names}
        return train_all(tmp_path_factory.mktemp("several"), make_run, chosen, to_the_bit=True)

    return Grouped(train, *GROUPS)


def test_that_any_split_over_replicas_of_two_devices_learns_what_one_device_learns(
    runs: dict[str, RunLayout],
) -> None:
    one, both = runs["one device"], runs["two by two"]

    assert furthest(one, both) < 1e-5
    expected = last_metrics(one).model_dump(exclude_none=True)
    assert last_metrics(both).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


PAIRS = {
    "two by two": "two replicas",
    "by hand": "by hand, two replicas",
    "in turn": "in parts",
    "in a pipeline": "in parts",
    "again in a pipeline": "again in parts",
}


@pytest.mark.parametrize("name", PAIRS)
def test_that_bits_are_those_of_replicas_of_one_device(
    runs: dict[str, RunLayout], name: str
) -> None:
    # TensorFlow's graph optimizer may add moving statistics up in another order.
    assert all("moving" in each for each in differing(runs[PAIRS[name]], runs[name]))
    assert furthest(runs[PAIRS[name]], runs[name]) < 1e-6


def test_that_a_pipeline_in_each_replica_learns_to_the_bit_what_devices_learn_in_turn(
    runs: dict[str, RunLayout],
) -> None:
    assert differing(runs["in turn"], runs["in a pipeline"]) == []


def differing(one: RunLayout, other: RunLayout) -> list[str]:
    """The variables that differ in any bit."""
    before, after = variables(one), variables(other)
    assert before.keys() == after.keys()
    return [name for name in before if before[name].tobytes() != after[name].tobytes()]


def test_that_each_replica_has_every_layer_on_a_device_of_its_own(
    runs: dict[str, RunLayout],
) -> None:
    (event,) = [each for each in all_events(runs["two by two"]) if isinstance(each, LayersPlaced)]
    devices = {each.name: set[str]() for each in event.layers}
    for each in event.layers:
        devices[each.name].add(each.logical_device)

    assert set(map(frozenset, devices.values())) == {
        frozenset({"/device:CPU:0", "/device:CPU:2"}),
        frozenset({"/device:CPU:1", "/device:CPU:3"}),
    }


def test_that_normalisation_over_all_replicas_works_where_its_layer_is(
    tmp_path: Path, make_run: MakeRun
) -> None:
    strategy = layered(placement={"convolution_1": 0, "dense_1": 1})
    one = of(LARGE, strategy, NORMED)
    layout = make_run(tmp_path / "run", one, [40, 24])
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("placed_graph.py")), str(layout.root)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    operations = json.loads((layout.root / "graph.json").read_text(encoding="utf-8"))["operations"]
    # One over the deviation of each of the 4 and of the 24 channels.
    found: dict[int, set[str]] = {4: set(), 24: set()}
    for op in operations:
        if op["type"] == "Rsqrt":
            found[op["size"][0]].add(op["device"][-1])
    assert found == {4: {"0", "2"}, 24: {"1", "3"}}


def test_that_layers_that_a_library_builds_are_placed_and_learn_the_same(
    tmp_path: Path, make_run: MakeRun
) -> None:
    random = np.random.default_rng(5)
    path = tmp_path / "images.npz"
    np.savez(path, x=random.integers(0, 256, (40, 32, 32, 3), dtype=np.uint8), y=np.arange(40) % 3)
    model = ApplicationModel(
        source="MobileNet", frozen_layers=1, fine_tune_from_epoch=2, dropout=0.2
    )
    training = LARGE.model_copy(update={"epochs": 3})
    plans = {
        name: (
            Profile(
                data=NpzData(path=str(path)), model=model, training=training, strategy=strategy
            ),
            shares,
        )
        for name, strategy, shares in (
            ("one device", StrategySettings(), [16]),
            ("two by two", layered(placement={"conv_1": 0, "conv_2": 1, "outputs": 0}), [13, 3]),
        )
    }
    found = train_all(tmp_path / "runs", make_run, plans, to_the_bit=True, small_base=True)
    one, several = found["one device"], found["two by two"]

    assert furthest(one, several) < 1e-5
    (event,) = [each for each in all_events(several) if isinstance(each, LayersPlaced)]
    places = {each.name: each.logical_device for each in event.layers if each.parameters}
    assert {name: place[-1] for name, place in places.items()} == {
        "conv_1": "2",
        "norm_1": "2",
        "conv_2": "3",
        "norm_2": "3",
        "conv_3": "3",
        "outputs": "2",
    }


def test_that_shares_are_measured(runs: dict[str, RunLayout]) -> None:
    events = all_events(runs["measured shares"])
    chosen = [each for each in events if isinstance(each, SharesChosen)]

    assert [sum(each.shares) for each in chosen] == [64] * len(chosen)
    assert all(each.examples_per_second > 0 for each in chosen[-1].speeds)
