"""Any split of a batch is the same mathematics; metrics are those of whole sets."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, DataSettings, DigitsData, ImagesData, KerasData
from gpupanel.domain.events import CheckpointSaved, EpochDone, Event, ProblemReported, decode_event
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import AllReduce, StrategySettings
from gpupanel.domain.training import Optimizer, TrainingSettings
from gpupanel.trainer.saving.checkpoints import STATE_FILE, Checkpoints
from tests.unit.trainer.conftest import MakeRun

pytestmark = pytest.mark.tensorflow

DIGITS = DigitsData(validation_fraction=0.2)
SGD = TrainingSettings(epochs=3, optimizer=Optimizer.SGD, learning_rate=0.1, momentum=0.9)
NORMED = MlpModel(hidden=(32,), batch_norm=True)
FROZEN = SGD.model_copy(update={"learning_rate": 1e-30, "epochs": 1})

PATIENT = FROZEN.model_copy(
    update={"epochs": 9, "early_stopping_patience": 2, "checkpoint_every_epochs": 5}
)


def profile(
    training: TrainingSettings = SGD,
    model: ModelSettings = MlpModel(hidden=(32,)),  # noqa: B008 - frozen
    data: DataSettings = DIGITS,
    **strategy: object,
) -> Profile:
    return Profile(data=data, model=model, training=training, strategy=StrategySettings(**strategy))


def changed(**changes: object) -> TrainingSettings:
    return SGD.model_copy(update=changes)


def plans(images: Path) -> dict[str, tuple[Profile, Sequence[int]]]:
    """Every run of this module by name, with its shares; two logical devices first."""
    cached = {
        f"images, cache {cache}": (
            profile(
                training=changed(epochs=1, learning_rate=0.01),
                data=ImagesData(
                    path=str(images), image_size=(8, 8), cache=cache, validation_fraction=0.3
                ),
                model=CnnModel(filters=(4,)),
            ),
            [5, 3],
        )
        for cache in DataCache
    }
    half = changed(optimizer=Optimizer.ADAM, learning_rate=3e-3, mixed_precision=True)
    everything = CnnModel(filters=(4,), batch_norm=True, dropout=0.2)
    return {
        "equal": (profile(), [32, 32]),
        "one device": (profile(), [64]),
        "48 + 16": (profile(), [48, 16]),
        "60 + 4": (profile(), [60, 4]),
        "64 + 0": (profile(), [64, 0]),
        "accumulated": (profile(changed(accumulation_steps=2)), [64]),
        "accumulated, 60 + 4": (profile(changed(accumulation_steps=3)), [60, 4]),
        "to one device": (
            profile(all_reduce=AllReduce.REDUCTION_TO_ONE_DEVICE),
            [48, 16],
        ),
        "hierarchical": (profile(all_reduce=AllReduce.HIERARCHICAL_COPY), [48, 16]),
        "compiled": (profile(changed(jit_compile=True)), [48, 16]),
        "another seed": (profile(changed(seed=8)), [64]),
        "normed": (profile(model=NORMED), [64]),
        "normed, 60 + 4": (profile(model=NORMED), [60, 4]),
        "frozen": (profile(FROZEN), [48, 16]),
        "patient": (profile(PATIENT), [64]),
        "values": (
            profile(changed(learning_rate=0.01), data=KerasData(source="boston_housing")),
            [40, 24],
        ),
        "everything": (
            profile(half, everything),
            [60, 4],
        ),
        **cached,
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """All runs, trained in one child."""
    root = tmp_path_factory.mktemp("rule")
    random = np.random.default_rng(3)
    for name in ("dark", "light"):
        (root / "images" / name).mkdir(parents=True)
        for number in range(20):
            pixels = random.integers(0, 128, (9, 9, 3)) + (100 if name == "light" else 0)
            Image.fromarray(pixels.astype(np.uint8)).save(root / "images" / name / f"{number}.png")
    (root / "keras" / "datasets").mkdir(parents=True)
    x = random.normal(50.0, 20.0, (506, 13))
    np.savez(root / "keras" / "datasets" / "boston_housing.npz", x=x, y=x[:, 0] * 300.0 + 2e4)
    layouts = {
        name: make_run(root / f"{number:02}", *plan)
        for number, (name, plan) in enumerate(plans(root / "images").items())
    }
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("train_several.py")),
            *(str(layout.root) for layout in layouts.values()),
        ],
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "KERAS_HOME": str(root / "keras"),
            "GPUPANEL_SUPERVISOR_PID": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return layouts


def state(layout: RunLayout) -> list[np.ndarray]:
    """Every variable of model and optimizer at the end."""
    with np.load(Checkpoints(layout.checkpoints).saved()[-1] / STATE_FILE) as arrays:
        return [arrays[name] for name in arrays]


def all_events(layout: RunLayout) -> list[Event]:
    return [decode_event(line) for line in layout.events.read_text(encoding="utf-8").splitlines()]


def last_metrics(layout: RunLayout) -> Metrics:
    return [event for event in all_events(layout) if isinstance(event, EpochDone)][-1].metrics


def furthest(one: RunLayout, other: RunLayout) -> float:
    """The greatest difference of two states, relative to the size of the variable."""
    return max(
        float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-12))
        for a, b in zip(state(one), state(other), strict=True)
    )


@pytest.mark.parametrize(
    "split",
    [
        "equal",
        "48 + 16",
        "60 + 4",
        "64 + 0",
        "accumulated",
        "accumulated, 60 + 4",
        "to one device",
        "hierarchical",
        "compiled",
    ],
)
def test_that_any_split_gives_the_weights_of_one_device(
    runs: dict[str, RunLayout], split: str
) -> None:
    assert furthest(runs["one device"], runs[split]) < 1e-5
    expected = last_metrics(runs["one device"]).model_dump(exclude_none=True)
    assert last_metrics(runs[split]).model_dump(exclude_none=True) == pytest.approx(
        expected, rel=1e-5
    )


def test_that_another_seed_gives_other_weights(runs: dict[str, RunLayout]) -> None:
    assert furthest(runs["one device"], runs["another seed"]) > 1e-2


def test_that_batch_normalisation_sees_the_whole_batch(runs: dict[str, RunLayout]) -> None:
    assert furthest(runs["normed"], runs["normed, 60 + 4"]) < 1e-4


@pytest.mark.parametrize(
    "name", ["one device", "48 + 16", "accumulated, 60 + 4", "normed, 60 + 4", "frozen"]
)
def test_that_plain_keras_measures_the_same_on_the_validation_set(
    runs: dict[str, RunLayout], name: str
) -> None:
    loss, accuracy = evaluation(runs[name])["validation"]
    metrics = last_metrics(runs[name])

    assert metrics.val_loss == pytest.approx(loss, rel=1e-5)
    assert metrics.val_accuracy == pytest.approx(accuracy, rel=1e-6)


def test_that_training_metrics_are_those_of_the_whole_set(runs: dict[str, RunLayout]) -> None:
    # Its learning rate leaves the weights as they are: each step measures the same model.
    loss, accuracy = evaluation(runs["frozen"])["train"]
    metrics = last_metrics(runs["frozen"])

    assert metrics.loss == pytest.approx(loss, rel=1e-5)
    assert metrics.accuracy == pytest.approx(accuracy, rel=1e-6)


def test_that_values_are_predicted_in_their_own_unit(runs: dict[str, RunLayout]) -> None:
    squared, absolute = evaluation(runs["values"])["validation"]
    metrics = last_metrics(runs["values"])

    assert metrics.val_accuracy is None
    assert metrics.val_loss == pytest.approx(squared, rel=1e-4)
    assert metrics.val_mean_absolute_error == pytest.approx(absolute, rel=1e-4)
    assert absolute < 3_000  # of labels around 35,000, a standard deviation of 6,000


def test_that_where_images_are_kept_changes_nothing(runs: dict[str, RunLayout]) -> None:
    memory = runs["images, cache memory"]

    assert furthest(memory, runs["images, cache none"]) < 1e-6
    assert furthest(memory, runs["images, cache disk"]) < 1e-6


def test_that_everything_together_trains(runs: dict[str, RunLayout]) -> None:
    metrics = last_metrics(runs["everything"])

    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.5  # guessing: 0.1
    assert all(array.dtype != np.float16 for array in state(runs["everything"]))


def test_that_early_stopping_ends_the_training_with_a_checkpoint(
    runs: dict[str, RunLayout],
) -> None:
    told = all_events(runs["patient"])

    assert [event.epoch for event in told if isinstance(event, EpochDone)] == [1, 2, 3]
    (hint,) = [event.problem for event in told if isinstance(event, ProblemReported)]
    assert hint.code == "stopped_early"
    assert [event.epoch for event in told if isinstance(event, CheckpointSaved)] == [3]
    assert runs["patient"].model.is_file()


def evaluation(layout: RunLayout) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = json.loads(
        (layout.root / "evaluation.json").read_text(encoding="utf-8")
    )
    return measured
