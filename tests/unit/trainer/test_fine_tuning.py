"""Layers of a base that begin to learn later than the head, with any strategy and division."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, NpzData
from gpupanel.domain.events import (
    FineTuningBegan,
    ModelReady,
    Phase,
    PhaseChanged,
    SharesChosen,
    StepsDone,
)
from gpupanel.domain.model import ApplicationModel, Head, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.cluster.environments import process_environments
from gpupanel.runs.launcher import create_run
from gpupanel.trainer.saving.checkpoint_files import STATE_FILE
from gpupanel.trainer.saving.checkpoints import Checkpoints
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import ForkedProcess, run_forked
from tests.grouped import Grouped
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.saved_models import make_saved_models
from tests.unit.trainer.test_multi_worker import train_gang
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    SMALL_BASE,
    all_events,
    furthest,
    last_metrics,
    train_all,
    train_layouts,
    variables,
)

pytestmark = pytest.mark.tensorflow

_STEPS_AN_EPOCH = 2
"""30 examples, 16 at a time."""
LATER = ApplicationModel(source="MobileNet", fine_tune_from_epoch=3, fine_tune_learning_rate=2e-3)
ADAM = TrainingSettings(
    epochs=4,
    global_batch_size=16,
    learning_rate=1e-2,
    clip_norm=0.5,
    weight_decay=1e-2,
    ema=0.9,
    schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5),
    checkpoint_every_epochs=1,
    tensorboard=False,
)
PLATEAU = TrainingSettings(
    epochs=4,
    global_batch_size=16,
    optimizer=Optimizer.SGD,
    momentum=0.9,
    learning_rate=0.05,
    schedule=ScheduleSettings(kind="reduce_on_plateau", patience_epochs=1, factor=0.5),
    checkpoint_every_epochs=1,
    tensorboard=False,
)
MIRRORED, CENTRAL = (
    StrategySettings(kind=kind) for kind in (StrategyKind.MIRRORED, StrategyKind.CENTRAL_STORAGE)
)
DIVIDED = StrategySettings(kind=StrategyKind.MIRRORED, optimizer_state=(1, 3))
BALANCED = StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> NpzData:
    random = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("data") / "images.npz"
    np.savez(path, x=random.integers(0, 256, (40, 32, 32, 3), dtype=np.uint8), y=np.arange(40) % 3)
    return NpzData(path=str(path), validation_fraction=0.25)


def session(
    data: NpzData,
    training: TrainingSettings = ADAM,
    model: ApplicationModel = LATER,
    strategy: StrategySettings | None = None,
    **changes: object,
) -> Profile:
    return Profile(
        data=data,
        model=model,
        training=training.model_copy(update=changes),
        strategy=strategy or StrategySettings(),
    )


def further(
    path: Path, training: TrainingSettings, strategy: StrategySettings | None = None
) -> Profile:
    """A saved model with a new last layer; the second of its convolutions learns later."""
    model = SavedModel(path=str(path), head=Head.NEW, frozen_layers=1, fine_tune_from_epoch=2)
    few = DigitsData(validation_fraction=0.97)
    return Profile(
        data=few, model=model, training=training, strategy=strategy or StrategySettings()
    )


FEW = LATER.model_copy(update={"frozen_layers": 1})
"""Without batch normalisation among those that learn: micro-batches are the same mathematics."""
MOMENTUM = {"optimizer": Optimizer.SGD, "momentum": 0.9}


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun, data: NpzData
) -> dict[str, RunLayout]:
    saved = make_saved_models(tmp_path_factory.mktemp("saved")) / "backbone.keras"
    head = LATER.model_copy(update={"frozen_layers": "base"})
    plans: dict[str, tuple[Profile, list[int]]] = {
        "one device": (session(data), [16]),
        "mirrored": (session(data, strategy=MIRRORED), [13, 3]),
        "state divided": (session(data, strategy=DIVIDED), [13, 3]),
        "head": (session(data, model=head), [16]),
        "few, balanced": (session(data, model=FEW, strategy=BALANCED, **MOMENTUM), [8, 8]),
        "plateau": (session(data, PLATEAU), [16]),
        "begun": (session(data, PLATEAU, epochs=2), [16]),
        "saved": (further(saved, PLATEAU), [16]),
    }

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        root, chosen = tmp_path_factory.mktemp("tuned"), {name: plans[name] for name in names}
        return train_all(root, make_run, chosen, to_the_bit=True, small_base=True)

    compared = ("one device", "mirrored", "state divided")
    return Grouped(train, compared, [name for name in plans if name not in compared])


@pytest.mark.long
def test_that_two_replicas_learn_what_one_device_learns(runs: dict[str, RunLayout]) -> None:
    assert_alike(runs["one device"], runs["mirrored"])


@pytest.mark.long
def test_that_the_state_of_both_optimizers_can_be_divided(runs: dict[str, RunLayout]) -> None:
    whole, divided = variables(runs["mirrored"]), variables(runs["state divided"])
    assert whole.keys() == divided.keys()
    assert [key for key in whole if whole[key].tobytes() != divided[key].tobytes()] == []


@pytest.mark.slow
def test_that_further_divisions_give_what_one_device_learns(
    runs: dict[str, RunLayout], data: NpzData, make_run: MakeRun, tmp_path: Path
) -> None:
    (tmp_path / "saved").mkdir()
    saved = make_saved_models(tmp_path / "saved") / "backbone.keras"
    plans: dict[str, tuple[Profile, list[int]]] = {
        "central storage": (session(data, strategy=CENTRAL), [10, 6]),
        "saved, mirrored": (further(saved, PLATEAU, MIRRORED), [9, 7]),
        "few": (session(data, model=FEW, **MOMENTUM), [16]),
        "few, accumulated": (
            session(data, model=FEW, strategy=MIRRORED, accumulation_steps=3, **MOMENTUM),
            [10, 6],
        ),
    }
    divided = train_all(tmp_path / "runs", make_run, plans, small_base=True)
    assert_alike(runs["one device"], divided["central storage"])
    assert_alike(runs["saved"], divided["saved, mirrored"])
    assert_alike(divided["few"], divided["few, accumulated"])
    assert_alike(divided["few"], runs["few, balanced"])


def assert_alike(one_device: RunLayout, other: RunLayout) -> None:
    assert furthest(one_device, other, "model/") < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_that_shares_are_measured_again_when_more_layers_learn(
    runs: dict[str, RunLayout],
) -> None:
    reported = all_events(runs["few, balanced"])
    chosen = [each for each in reported if isinstance(each, SharesChosen)]
    measured = [each.step for each in chosen if each.reason == "measured"]
    assert measured == [0, 2 * _STEPS_AN_EPOCH]


WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2, shares=(13, 3))
SERVED = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=1)


@pytest.fixture(scope="module")
def gangs(tmp_path_factory: pytest.TempPathFactory, data: NpzData) -> dict[str, RunLayout]:
    """Two workers that agree; one that takes its weights from a parameter server."""
    root = tmp_path_factory.mktemp("gangs")
    workers = train_gang(root, {"workers": session(data, strategy=WORKERS)}, SMALL_BASE)
    return workers | {"served": served(root, session(data, strategy=SERVED))}


def served(root: Path, profile: Profile) -> RunLayout:
    """The run that a coordinator trained; its steps follow each other: one worker does all."""
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(profile, plan, root)
    coordinator, *others = process_environments(plan)
    serving = [
        ForkedProcess(
            [sys.executable, "-m", "gpupanel.trainer", str(layout.root)],
            env={**CHILD_ENVIRONMENT, **other},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )
        for other in others
    ]
    try:
        train_layouts([layout], "--as-written", small_base=True, **coordinator)
    finally:
        for process in serving:
            process.kill()
            process.wait()
    return layout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workers", "served"])
def test_that_several_processes_give_what_one_device_learns(
    runs: dict[str, RunLayout], gangs: dict[str, RunLayout], name: str
) -> None:
    assert furthest(runs["one device"], gangs[name], "model/") < 1e-5
    assert [each.epoch for each in all_events(gangs[name]) if isinstance(each, FineTuningBegan)]


@pytest.mark.long
def test_that_layers_of_the_base_keep_weights_and_statistics_until_then(
    runs: dict[str, RunLayout],
) -> None:
    whole, head = variables(runs["one device"]), variables(runs["head"])
    of_base = [name for name in head if name.startswith(("model/conv", "model/norm"))]
    assert len(of_base) == 3 + 2 * 4
    kept = first_state(runs["one device"])
    assert [name for name in of_base if (kept[name] != head[name]).any()] == []
    # With those who say "base", nothing of it ever learns.
    assert not [each for each in all_events(runs["head"]) if isinstance(each, FineTuningBegan)]
    assert [name for name in of_base if (whole[name] == head[name]).all()] == []
    few = variables(runs["few, balanced"])
    moved = {name for name in of_base if (few[name] != head[name]).any()}
    assert moved == {"model/conv_3/kernel"}


def first_state(layout: RunLayout) -> dict[str, np.ndarray]:
    """Of the oldest checkpoint that is left: of before."""
    with np.load(Checkpoints(layout.checkpoints).saved()[0] / STATE_FILE) as arrays:
        return dict(arrays)


@pytest.mark.long
def test_that_layers_of_a_saved_model_learn_later(runs: dict[str, RunLayout]) -> None:
    (began,) = (each for each in all_events(runs["saved"]) if isinstance(each, FineTuningBegan))
    # A convolution from 4 filters to 6, and a layer from 6 numbers to 10 classes.
    assert (began.epoch, began.layers) == (2, 1)
    assert began.trainable_parameters == (3 * 3 * 4 + 1) * 6 + 7 * 10


@pytest.mark.long
def test_that_a_run_says_when_layers_begin_to_learn(runs: dict[str, RunLayout]) -> None:
    reported = all_events(runs["one device"])
    (ready,) = (each for each in reported if isinstance(each, ModelReady))
    (began,) = (each for each in reported if isinstance(each, FineTuningBegan))
    assert (began.epoch, began.layers) == (3, 5)
    # Of all that ever learn: what must fit is what they need.
    assert ready.trainable_parameters == began.trainable_parameters
    assert ready.trainable_parameters == ready.parameters - 2 * 2 * 6  # moving statistics
    curve = ADAM.rate_curve(_STEPS_AN_EPOCH, LATER.fine_tuning)
    assert began.learning_rate == pytest.approx(curve.at(2 * _STEPS_AN_EPOCH))
    done = [each for each in reported if isinstance(each, StepsDone)]
    place = reported.index(began)
    # Compiled once for each of both.
    phases = [each.phase for each in reported if isinstance(each, PhaseChanged)]
    assert phases.count(Phase.TRACING) == 2
    assert {each.epoch for each in done if reported.index(each) < place} == {1, 2}
    for each in done:
        assert each.learning_rate == pytest.approx(curve.at(each.step - 1))


@pytest.mark.long
def test_that_a_rate_that_follows_the_loss_goes_on_scaled(runs: dict[str, RunLayout]) -> None:
    reported = all_events(runs["plateau"])
    rates = {each.epoch: each.learning_rate for each in reported if isinstance(each, StepsDone)}
    # It falls after the second and the third epoch, and after the last.
    assert rates == pytest.approx({1: 0.05, 2: 0.05, 3: 2e-3 * 0.5, 4: 2e-3 * 0.25})
    learned = variables(runs["plateau"])["optimizer/fine_tuning/learning_rate"]
    assert learned == pytest.approx(2e-3 * 0.125)


@pytest.mark.slow
def test_that_a_run_learns_what_keras_learns_with_another_optimizer_from_then_on(
    tmp_path: Path, make_run: MakeRun, data: NpzData
) -> None:
    # A greater epsilon: of gradients near 0 rounding alone would decide about the sign of a step.
    plain = TrainingSettings(
        epochs=5, global_batch_size=16, learning_rate=1e-2, epsilon=1e-3, tensorboard=False
    )
    unmixed = data.model_copy(update={"validation_fraction": 0.0, "shuffle": False})
    made = train_all(
        tmp_path / "run", make_run, {"run": (session(unmixed, plain), [16])}, small_base=True
    )
    done = run_forked(
        [
            sys.executable,
            *(str(Path(__file__).with_name(f"{name}.py")) for name in _WITH_KERAS),
            str(made["run"].root),
        ],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert float(done.stdout.split()[-1]) < 1e-4


_WITH_KERAS = ("with_small_base", "fine_tune_with_keras")

EVERY_STATE = LATER.model_copy(update={"dropout": 0.2})
KEPT = {"checkpoints_kept": 100, "mixed_precision": True}


@pytest.mark.slow
def test_that_a_run_goes_on_from_any_checkpoint_to_the_same_bits(
    tmp_path: Path, make_run: MakeRun, data: NpzData
) -> None:
    # Where layers begin to learn, and in the middle of an epoch before it, and after it.
    steps = (2 * _STEPS_AN_EPOCH, 2 * _STEPS_AN_EPOCH - 1, 2 * _STEPS_AN_EPOCH + 1)
    one = session(data, model=EVERY_STATE, **KEPT)
    plans = {"whole": (one, [12, 4])}
    mirrored = {
        name: (profile.model_copy(update={"strategy": MIRRORED}), shares)
        for name, (profile, shares) in plans.items()
    }
    runs = train_all(
        tmp_path / "runs",
        make_run,
        mirrored,
        to_the_bit=True,
        small_base=True,
        each_step_saved=True,
    )
    whole = variables(runs["whole"])
    segments = {step: make_run(tmp_path / f"{step}", *mirrored["whole"]) for step in steps}
    for step, segment in segments.items():
        (saved,) = runs["whole"].checkpoints.glob(f"step-{step:09d}*")
        shutil.copytree(saved, segment.checkpoints / saved.name)
    train_layouts(list(segments.values()), small_base=True)
    for step, segment in segments.items():
        assert different(whole, variables(segment)) == [], step
        began = [each for each in all_events(segment) if isinstance(each, FineTuningBegan)]
        assert [each.epoch for each in began] == [3]


def different(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[str]:
    assert one.keys() == other.keys()
    return [name for name in one if one[name].tobytes() != other[name].tobytes()]


@pytest.mark.long
def test_that_a_run_that_goes_on_for_longer_begins_to_fine_tune_then(
    runs: dict[str, RunLayout], data: NpzData
) -> None:
    begun = runs["begun"]
    assert not [each for each in all_events(begun) if isinstance(each, FineTuningBegan)]
    begun.profile.write_text(dump_profile(session(data, PLATEAU)), encoding="utf-8")
    train_layouts([begun], small_base=True)
    assert different(variables(runs["plateau"]), variables(begun)) == []
