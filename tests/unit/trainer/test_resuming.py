"""A training goes on from a checkpoint as if nothing had happened, whoever wrote it."""

import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DigitsData, KerasData
from gpupanel.domain.events import (
    CheckpointSaved,
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    TrainingResumed,
)
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.guarded_files import remove
from gpupanel.runs.directory.requests import write_suspend_after
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun, StartTrainer, Trainer, cpu_plan
from tests.unit.trainer.test_model_parallel import placed_plan
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    all_events,
    furthest,
    last_metrics,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow

_BATCH = 16
_STEPS_AN_EPOCH = 90

EVERY_STATE = Profile(
    data=DigitsData(
        validation_fraction=0.2, augmentation=Augmentation(shift=0.1, rotate_degrees=10)
    ),
    model=MlpModel(hidden=(32,), batch_norm=True, dropout=0.2),
    training=TrainingSettings(
        epochs=3,
        global_batch_size=_BATCH,
        accumulation_steps=2,
        clip_norm=1.0,
        weight_decay=1e-2,
        ema=0.99,
        schedule=ScheduleSettings(kind="one_cycle"),
    ),
)
"""Weights, slots, averages, moving statistics and random numbers, of layers and for examples."""

SHARES: dict[str, Sequence[int]] = {
    "one_device": (_BATCH,),
    "mirrored": (12, 4),
    "float16": (12, 4),
    "activations computed again": (12, 4),
    "optimizer state divided": (12, 4),
}
CHANGES: dict[str, dict[str, object]] = {
    "float16": {"mixed_precision": True, "half_precision": "float16"},
    "activations computed again": {"recompute": "blocks"},
}


DIVIDED = StrategySettings(kind=StrategyKind.MIRRORED, optimizer_state=(3, 1))


def state_of(name: str, **changes: object) -> Profile:
    training = EVERY_STATE.training.model_copy(update={**CHANGES.get(name, {}), **changes})
    model = MlpModel(hidden=(32, 16), batch_norm=True, dropout=0.2)
    update = {"training": training, "model": model}
    if name == "optimizer state divided":
        update["strategy"] = DIVIDED
    return EVERY_STATE.model_copy(update=update)


def undisturbed(folder: Path, make_run: MakeRun, name: str) -> RunLayout:
    plans = {name: (state_of(name), SHARES[name])}
    return train_all(folder, make_run, plans, to_the_bit=True)[name]


def kill_within_an_epoch(trainer: Trainer) -> None:
    """As soon as the newest checkpoint is of the middle of an epoch."""
    count = 0
    while True:
        count += 1
        saved = trainer.wait_for(CheckpointSaved, count)
        assert isinstance(saved, CheckpointSaved)
        if saved.step % _STEPS_AN_EPOCH:
            break
    trainer.process.kill()
    trainer.process.wait()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name == "mirrored" else pytest.mark.slow)
        for name in SHARES
    ],
)
def test_that_a_run_killed_within_an_epoch_reaches_the_same_bits(
    tmp_path: Path,
    make_run: MakeRun,
    start_trainer: StartTrainer,
    name: str,
) -> None:
    often = state_of(name, checkpoint_every_minutes=1e-3)
    layout = make_run(tmp_path / "run", often, SHARES[name])
    kill_within_an_epoch(start_trainer(layout))

    assert start_trainer(layout).ended().outcome is Outcome.COMPLETED

    (resumed,) = [event for event in all_events(layout) if isinstance(event, TrainingResumed)]
    assert resumed.step % _STEPS_AN_EPOCH != 0
    whole = undisturbed(tmp_path / "undisturbed", make_run, name)
    one, other = variables(whole), variables(layout)
    assert one.keys() == other.keys()
    assert [key for key in one if one[key].tobytes() != other[key].tobytes()] == []
    # What was added up of the epoch before the death counts, too.
    wanted, reached = last_metrics(whole), last_metrics(layout)
    assert reached.accuracy == wanted.accuracy
    assert reached.val_accuracy == wanted.val_accuracy
    assert reached.loss == pytest.approx(wanted.loss, rel=1e-5)
    epochs = [event.epoch for event in all_events(layout) if isinstance(event, EpochDone)]
    assert epochs[-1] == 3


@pytest.mark.long
def test_that_a_run_paused_after_each_epoch_reaches_the_same_bits_and_has_a_model_each_time(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    layout = make_run(tmp_path / "run", state_of("one_device"), SHARES["one_device"])
    for epoch in (1, 2):
        write_suspend_after(layout, epoch)
        assert start_trainer(layout).ended().outcome is Outcome.SUSPENDED
        events = all_events(layout)
        assert max(event.epoch for event in events if isinstance(event, EpochDone)) == epoch
        saved = [event for event in events if isinstance(event, CheckpointSaved)]
        assert saved[-1].step == epoch * _STEPS_AN_EPOCH
        assert layout.model.exists()
    # Its number is no longer that of an epoch to come.
    remove(layout.requests / Request.SUSPEND_AFTER_EPOCH)
    assert start_trainer(layout).ended().outcome is Outcome.COMPLETED
    whole = undisturbed(tmp_path / "undisturbed", make_run, "one_device")
    one, other = variables(whole), variables(layout)
    assert one.keys() == other.keys()
    assert [key for key in one if one[key].tobytes() != other[key].tobytes()] == []
    wanted, reached = last_metrics(whole), last_metrics(layout)
    assert (reached.accuracy, reached.val_accuracy) == (wanted.accuracy, wanted.val_accuracy)
    assert reached.val_loss == pytest.approx(wanted.val_loss, rel=1e-5)


PLAIN = EVERY_STATE.model_copy(
    update={
        "model": MlpModel(hidden=(16,), batch_norm=True, dropout=0.2),
        "training": TrainingSettings(
            epochs=3,
            global_batch_size=_BATCH,
            optimizer=Optimizer.SGD,
            momentum=0.9,
            nesterov=True,
            schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5),
            ema=0.9,
        ),
    }
)
Segments = dict[str, tuple[StrategySettings, Sequence[int]]]


def on(kind: StrategyKind, state: str | tuple[int, ...] = "replicated") -> StrategySettings:
    return StrategySettings(kind=kind, optimizer_state=state)


SEGMENTS: Segments = {
    "one device": (on(StrategyKind.ONE_DEVICE), (16,)),
    "mirrored": (on(StrategyKind.MIRRORED), (12, 4)),
    "central storage": (on(StrategyKind.CENTRAL_STORAGE), (5, 11)),
    "optimizer state divided": (on(StrategyKind.MIRRORED, (3, 1)), (12, 4)),
    "mirrored, other shares": (on(StrategyKind.MIRRORED), (4, 6, 6)),
    "layers on several devices": (on(StrategyKind.MODEL_PARALLEL), (16,)),
    "one device again": (on(StrategyKind.ONE_DEVICE), (16,)),
}
FEW = ("mirrored, other shares", "layers on several devices", "one device again")
"""All are for ``make test-slow``."""
DIVISIONS: Segments = {
    "divided": (on(StrategyKind.MIRRORED, (60, 20, 20)), (4, 6, 6)),
    "whole": (on(StrategyKind.MIRRORED), (4, 6, 6)),
    "divided otherwise": (on(StrategyKind.MIRRORED, (0, 1, 3)), (4, 6, 6)),
    "divided equally": (on(StrategyKind.MIRRORED, "sharded"), (4, 6, 6)),
}


def trained_in_turn(root: Path, make_run: MakeRun, segments: Segments) -> dict[str, RunLayout]:
    """Each segment goes on from the checkpoint of the one before; all but the last end early."""
    layouts = {}
    undisturbed = {"undisturbed": (on(StrategyKind.ONE_DEVICE), (16,))}
    if segments is DIVISIONS:
        undisturbed = {"undisturbed": DIVISIONS["whole"]}
    for number, (name, (strategy, shares)) in enumerate({**segments, **undisturbed}.items()):
        one = PLAIN.model_copy(update={"strategy": strategy})
        layouts[name] = make_run(root / f"{number}", one, shares)
        plan = cpu_plan(one, shares)
        if strategy.kind is StrategyKind.MODEL_PARALLEL:
            plan = placed_plan(plan)
        layouts[name].plan.write_text(plan.model_dump_json(), encoding="utf-8")
    done = run_forked(
        [
            sys.executable,
            str(Path(__file__).with_name("train_chain.py")),
            *(str(layout.root) for layout in layouts.values()),
        ],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return layouts


@pytest.mark.long
def test_that_a_checkpoint_goes_on_with_any_division_of_the_optimizers_state_to_the_same_bits(
    tmp_path: Path, make_run: MakeRun
) -> None:
    chain = trained_in_turn(tmp_path, make_run, DIVISIONS)
    assert_went_on(chain)
    expected, reached = variables(chain["undisturbed"]), variables(chain["divided equally"])
    assert [key for key in expected if expected[key].tobytes() != reached[key].tobytes()] == []


@pytest.mark.slow
def test_that_a_checkpoint_of_one_strategy_goes_on_under_others_to_what_one_device_learns(
    tmp_path: Path, make_run: MakeRun
) -> None:
    assert_went_on(trained_in_turn(tmp_path, make_run, {name: SEGMENTS[name] for name in FEW}))


@pytest.mark.slow
def test_that_it_goes_on_under_every_strategy(tmp_path: Path, make_run: MakeRun) -> None:
    assert_went_on(trained_in_turn(tmp_path, make_run, SEGMENTS))


def assert_went_on(chain: dict[str, RunLayout]) -> None:
    *segments, undisturbed = chain.values()
    for before, segment in itertools.pairwise(segments):
        reported = all_events(segment)
        (resumed,) = [event for event in reported if isinstance(event, TrainingResumed)]
        left = [event for event in all_events(before) if isinstance(event, CheckpointSaved)][-1]
        assert resumed.step == left.step
        assert 0 < resumed.step < _STEPS_AN_EPOCH
        went_on = [event for event in reported if isinstance(event, CheckpointSaved)][-1]
        assert went_on.step > resumed.step
        assert variables(before).keys() == variables(segment).keys()
    assert furthest(undisturbed, segments[-1]) < 1e-5
    wanted, reached = last_metrics(undisturbed), last_metrics(segments[-1])
    assert reached.accuracy == wanted.accuracy
    assert reached.val_loss == pytest.approx(wanted.val_loss, rel=1e-5)


def with_epochs(epochs: int) -> Profile:
    """Steps so large that the loss rises now and then, and the rate follows it."""
    schedule = ScheduleSettings(kind="reduce_on_plateau", patience_epochs=1, factor=0.7)
    training = TrainingSettings(
        epochs=epochs, optimizer=Optimizer.SGD, learning_rate=0.7, momentum=0.9, schedule=schedule
    )
    return EVERY_STATE.model_copy(update={"model": MlpModel(hidden=(16,)), "training": training})


@pytest.mark.slow
def test_that_a_rate_that_follows_the_loss_goes_on_where_it_was(
    tmp_path: Path, make_run: MakeRun
) -> None:
    plans = {"begun": (with_epochs(5), [64]), "whole": (with_epochs(9), [64])}
    runs = train_all(tmp_path, make_run, plans, to_the_bit=True)
    before = variables(runs["begun"])["optimizer/sgd/learning_rate"]
    runs["begun"].profile.write_text(dump_profile(with_epochs(9)), encoding="utf-8")
    done = run_forked(
        [
            sys.executable,
            str(Path(__file__).with_name("train_several.py")),
            str(runs["begun"].root),
        ],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]

    whole, gone_on = variables(runs["whole"]), variables(runs["begun"])
    assert [key for key in whole if whole[key].tobytes() != gone_on[key].tobytes()] == []
    assert 0.7 > before > whole["optimizer/sgd/learning_rate"]


LONG_TEST = Profile(
    data=KerasData(source="mnist", validation_fraction=0.0),
    model=MlpModel(hidden=()),
    training=TrainingSettings(epochs=2, global_batch_size=2),
)
"""Trained in a moment; its test set takes seconds."""


def test_that_a_test_set_is_measured_by_whoever_goes_on_after_the_last_epoch(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    random = np.random.default_rng(5)
    x, labels = random.integers(0, 256, (20_040, 28, 28), np.uint8), np.arange(20_040) % 10
    (tmp_path / "datasets").mkdir()
    np.savez(
        tmp_path / "datasets" / "mnist.npz",
        x_train=x[:40],
        y_train=labels[:40],
        x_test=x[40:],
        y_test=labels[40:],
    )
    layout = make_run(tmp_path / "run", LONG_TEST, [2])

    def testing() -> Trainer:
        begun = sum(map(is_testing, all_events(layout))) if layout.events.exists() else 0
        trainer = start_trainer(layout, KERAS_HOME=str(tmp_path))
        while sum(map(is_testing, trainer.events())) == begun:
            assert trainer.process.poll() is None, trainer.log()
            time.sleep(0.01)
        return trainer

    for request, outcome in (
        (Request.SUSPEND, Outcome.SUSPENDED),
        (Request.STOP, Outcome.STOPPED),
        (None, None),
    ):
        trainer = testing()
        if request is None:
            trainer.process.kill()
            trainer.process.wait()
        else:
            (layout.requests / request).touch()
            ended = trainer.ended()
            assert (ended.outcome, ended.metrics.test_loss) == (outcome, None)
            assert ended.metrics.loss is not None
            (layout.requests / request).unlink()
        assert layout.model.is_file()
    ended = start_trainer(layout, KERAS_HOME=str(tmp_path)).ended()

    assert ended.outcome is Outcome.COMPLETED
    assert sum(isinstance(event, EpochDone) for event in all_events(layout)) == 2
    learned = {name.rpartition("/")[2]: value for name, value in variables(layout).items()}
    outputs = x[40:].reshape(-1, 784) / 255.0 @ learned["kernel"] + learned["bias"]
    right = outputs[np.arange(20_000), labels[40:]]
    losses = np.log(np.exp(outputs).sum(axis=1)) - right
    assert ended.metrics.test_loss == pytest.approx(losses.mean(), rel=1e-5)
    accuracy = (outputs.argmax(axis=1) == labels[40:]).mean()
    assert ended.metrics.test_accuracy == pytest.approx(accuracy, abs=1e-4)


def is_testing(event: Event) -> bool:
    return isinstance(event, PhaseChanged) and event.phase is Phase.TESTING
