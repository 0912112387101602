"""Runs that are killed at random moments go on, and end as if nothing had been."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import HalfPrecision, Recompute, TrainingSettings
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import launch
from tests.deaths.mortal_run import MortalRun, Weights, plan_of, saved_weights
from tests.forked.terminal import forked_trainers

# Dropout and batch normalisation have a state of their own that must go on, too.
MODEL = MlpModel(hidden=(256, 128), dropout=0.25, batch_norm=True)
EXAMPLES = 9_000

STRATEGIES = {
    "one_device": (StrategySettings(kind=StrategyKind.ONE_DEVICE), 1),
    "mirrored": (StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)), 2),
    "multi_worker": (StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2), 1),
}
DIVIDED = {
    f"{kind}, state divided": (
        settings.model_copy(update={"optimizer_state": (3, 1)}),
        cpu_replicas,
    )
    for kind, (settings, cpu_replicas) in STRATEGIES.items()
    if kind != "one_device"
}
LESS_MEMORY = {
    "mirrored, recomputed": {"recompute": Recompute.BLOCKS},
    "mirrored, float16": {"mixed_precision": True, "half_precision": HalfPrecision.FLOAT16},
    "pipeline": {"accumulation_steps": 4},
    "replicas of two devices": {"accumulation_steps": 4},
}
"""Settings of the training by which a step holds less."""
PIPELINE = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto", pipeline=True)
STRATEGIES |= DIVIDED
TWO_BY_TWO = PIPELINE.model_copy(update={"devices_per_replica": 2})
STRATEGIES |= dict.fromkeys(LESS_MEMORY, STRATEGIES["mirrored"])
STRATEGIES |= {"pipeline": (PIPELINE, 2), "replicas of two devices": (TWO_BY_TWO, 4)}
EPOCHS = {
    **dict.fromkeys(LESS_MEMORY, 60),
    "one_device": 120,
    "mirrored": 90,
    "multi_worker": 14,
    "mirrored, state divided": 90,
    "multi_worker, state divided": 14,
}
"""Enough of them for a training of some fifteen seconds."""


@pytest.fixture(scope="module")
def data_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples that keep a training busy for some seconds."""
    path = tmp_path_factory.mktemp("data") / "examples.npz"
    draw = np.random.default_rng(3)
    features = draw.normal(size=(EXAMPLES, 64)).astype(np.float32)
    labels = (features[:, :8].sum(axis=1) > 0.0).astype(np.int32)
    np.savez(path, x=features, y=labels)
    return path


def profile_of(kind: str, data_path: Path, epochs: int) -> Profile:
    strategy, cpu_replicas = STRATEGIES[kind]
    return Profile(
        name=f"mortal {kind.partition(',')[0]}",
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=cpu_replicas),
        strategy=strategy,
        data=NpzData(path=str(data_path), validation_fraction=0.1),
        model=MODEL,
        training=TrainingSettings(
            epochs=epochs,
            **{"accumulation_steps": 2, **LESS_MEMORY.get(kind, {})},
            # Two a second, most of them in the middle of an epoch.
            checkpoint_every_epochs=5,
            checkpoint_every_minutes=0.008,
            tensorboard=False,
        ),
    )


@contextmanager
def run_of(profile: Profile, runs_dir: Path, seed: int) -> Iterator[MortalRun]:
    run = MortalRun(profile, runs_dir, random.Random(seed))
    try:
        yield run
    finally:
        run.end()


def assert_same(one: Weights, other: Weights) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name


def assert_same_metrics(one: dict[int, Metrics], other: dict[int, Metrics]) -> None:
    """The sums of an epoch are rounded at other places where it was cut elsewhere."""
    assert one.keys() == other.keys()
    for epoch, metrics in one.items():
        told, expected = (each.model_dump(exclude_none=True) for each in (metrics, other[epoch]))
        assert told == pytest.approx(expected, rel=1e-6), epoch


def assert_survives(profile: Profile, runs_dir: Path, *, kills: int, seed: int) -> str:
    """Kill trainers and supervisors of a run so often; it ends like one that nobody killed."""
    dice = random.Random(seed)
    with run_of(profile, runs_dir, seed) as undisturbed:
        undisturbed.come_to_its_end()
        expected, metrics = undisturbed.weights(), undisturbed.epochs()
    with run_of(profile, runs_dir, seed) as run:
        while run.deaths.kills < kills:
            before = run.deaths.kills
            match dice.randrange(3):
                case 0:
                    run.kill_a_trainer(within_s=9.0)
                case 1:
                    run.kill_the_supervisor(within_s=9.0)
                case _:
                    run.kill_within_a_checkpoint()
            if run.deaths.kills == before:
                break  # it has come to its end
            run.go_on()
        run.come_to_its_end()
        assert_same(run.weights(), expected)
        assert_same_metrics(run.epochs(), metrics)
        return str(run.deaths)


@pytest.mark.slow
def test_that_a_run_whose_trainer_and_supervisor_are_killed_ends_as_if_nothing_had_been(
    runs_dir: Path, data_path: Path
) -> None:
    profile = profile_of("mirrored", data_path, epochs=6)
    with forked_trainers():  # nobody kills this one
        undisturbed = launch(profile, plan_of(profile), runs_dir)
    assert summarize_run(undisturbed).outcome is Outcome.COMPLETED
    expected = saved_weights(undisturbed)
    with ExitStack() as left:
        with forked_trainers():  # nobody kills this supervisor
            run = left.enter_context(run_of(profile, runs_dir, 2))
            run.kill_within_a_checkpoint()
        run.go_on()
        run.wait_for_an_epoch()
        run.kill_the_supervisor(within_s=0.3)
        with forked_trainers():  # nobody kills the last ones
            run.go_on()
            run.come_to_its_end()
        assert run.deaths.kills == 2
        assert_same(run.weights(), expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", list(STRATEGIES))
def test_that_a_run_killed_many_times_ends_as_if_nothing_had_been(
    runs_dir: Path, data_path: Path, kind: str, seed: int
) -> None:
    profile = profile_of(kind, data_path, EPOCHS[kind])
    told = assert_survives(profile, runs_dir, kills=8, seed=seed)
    print(f"{kind}, seed {seed}: {told}")
