"""Several workers, each a process: the mathematics of one device, bit by bit the same."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.augmentation import Augmentation, Flip
from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.events import EpochDone, EpochsFitted
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.plan import parse_plan
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.cluster.environments import process_environments
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import ForkedProcess
from tests.grouped import Grouped, others_long
from tests.patience import PATIENCE_S
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    all_events,
    changed,
    gradient_norm,
    last_metrics,
    profile,
    reached,
    said_of_labels,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow


NORMED = MlpModel(hidden=(32,), batch_norm=True)
EVERYTHING = CnnModel(filters=(4,), batch_norm=True, dropout=0.2)
SGD = changed(clip_norm=0.5)
ADAM = changed(optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, clip_norm=0.5)
ACCUMULATED = SGD.model_copy(update={"accumulation_steps": 3, "ema": 0.9})
COMPILED = SGD.model_copy(
    update={"jit_compile": True, "schedule": ScheduleSettings(kind="one_cycle")}
)

ALIKE: dict[str, Profile] = {
    "sgd": profile(SGD),
    "adam": profile(ADAM),
    "accumulated": profile(ACCUMULATED),
    "compiled": profile(COMPILED),
    "normed": profile(model=NORMED),
    "dropped": profile(SGD, model=MlpModel(hidden=(32,), dropout=0.3)),
    "normed and dropped": profile(model=NORMED.model_copy(update={"dropout": 0.3})),
}
"""Runs that one device trains, too."""

TWO: dict[str, tuple[str, Sequence[int]]] = {
    "normed and dropped, 48 + 16": ("normed and dropped", [48, 16]),
    "accumulated, 60 + 4": ("accumulated", [60, 4]),
}
FIRST = "normed and dropped, 48 + 16"
OTHER_TWO: dict[str, tuple[str, Sequence[int]]] = {
    "sgd, 48 + 16": ("sgd", [48, 16]),
    "sgd, 32 + 32": ("sgd", [32, 32]),
    "sgd, 64 + 0": ("sgd", [64, 0]),
    "adam, 48 + 16": ("adam", [48, 16]),
    "compiled, 48 + 16": ("compiled", [48, 16]),
    "normed, 48 + 16": ("normed", [48, 16]),
    "dropped, 48 + 16": ("dropped", [48, 16]),
}
OTHER_THREE: dict[str, tuple[str, Sequence[int]]] = {
    "accumulated, 40 + 20 + 4": ("accumulated", [40, 20, 4]),
    "sgd, 22 + 21 + 21": ("sgd", [22, 21, 21]),
}
HALF = ADAM.model_copy(update={"mixed_precision": True, "half_precision": "float16"})
DIVIDED: dict[str, tuple[Profile, tuple[int, ...], Sequence[int]]] = {
    "adam, 3 + 1": (profile(ADAM), (3, 1), [48, 16]),
    "everything, 0 + 1": (profile(ACCUMULATED, model=NORMED), (0, 1), [60, 4]),
    "float16, 1 + 1": (profile(HALF), (1, 1), [48, 16]),
}
"""Quotas of the optimizer's state, and shares."""
OTHERS = OTHER_TWO | OTHER_THREE
"""Other shares, three workers, XLA, each layer by itself, and an optimizer for which the sum of
gradients is the same: for ``make test-slow``."""
KEPT_IMAGES = {
    "images from disk": DataCache.NONE,
    "images in memory": DataCache.MEMORY,
    "images kept on disk": DataCache.DISK,
}
KNOWN_BY = 16
"""Images that whoever saves the model reads, so that its data is known again."""
FOLLOWED = 16
"""Of those that validate, whose predictions are shown epoch by epoch."""


def on_workers(one: Profile, shares: Sequence[int]) -> Profile:
    strategy = StrategySettings(
        kind=StrategyKind.MULTI_WORKER, workers=len(shares), shares=tuple(shares)
    )
    return one.model_copy(update={"strategy": strategy})


def alike(chosen: Mapping[str, tuple[str, Sequence[int]]]) -> dict[str, Profile]:
    return {name: on_workers(ALIKE[one], shares) for name, (one, shares) in chosen.items()}


def train_gang(root: Path, profiles: Mapping[str, Profile], *before: str) -> dict[str, RunLayout]:
    """Train runs of the same number of workers, one after the other, in one gang.

    Args:
        root: Gets a directory for each.
        profiles: By name.
        before: What comes before the program on the command line.
    """
    layouts = {}
    for name, one in profiles.items():
        plan = prepare(one, CPU_ONLY).plan
        assert plan is not None
        layouts[name] = create_run(one, plan, root)
    command = [sys.executable, *before, str(Path(__file__).with_name("train_gang.py"))]
    command += [str(layout.root) for layout in layouts.values()]
    workers = []
    for place, environment in enumerate(process_environments(plan)):
        with (root / f"{place}.log").open("wb") as log:
            variables = {**os.environ, **environment, "TF_CPP_MIN_LOG_LEVEL": "3"}
            workers.append(ForkedProcess(command, stdout=log, stderr=log, env=variables))
    try:
        for place, worker in enumerate(workers):
            status = worker.wait(PATIENCE_S)
            assert status == 0, (root / f"{place}.log").read_text()[-4000:]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    return layouts


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """Images that are changed, and others that are looked at once, at the end."""
    root = tmp_path_factory.mktemp("sets")
    test = images(root / "test", seed=4).path
    data = images(root / "images").model_copy(update={"test_path": test})
    # Some of them are blended with those before them.
    augmentation = Augmentation(flip=Flip.BOTH, rotate_degrees=20, hue=0.1, mixup=0.4)
    data = data.model_copy(update={"augmentation": augmentation})
    return profile(changed(epochs=1, learning_rate=0.01), data=data)


@pytest.fixture(scope="module")
def one_device(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun, tested: Profile
) -> dict[str, RunLayout]:
    plans = {name: (ALIKE[name], [64]) for name, _ in TWO.values()} | {"tested": (tested, [64])}

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        chosen = {name: plans[name] for name in names}
        return train_all(tmp_path_factory.mktemp("one"), make_run, chosen)

    first, *others = plans
    return Grouped(train, [first], others)


@pytest.fixture(scope="module")
def one_device_of_others(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> dict[str, RunLayout]:
    plans = {name: (ALIKE[name], [64]) for name, _ in OTHERS.values()}
    return train_all(tmp_path_factory.mktemp("one"), make_run, plans)


@pytest.fixture(scope="module")
def gangs(tmp_path_factory: pytest.TempPathFactory, tested: Profile) -> dict[str, RunLayout]:
    two = alike(TWO)
    two["images from disk"] = with_images(tmp_path_factory.mktemp("read"), DataCache.NONE)
    two["tested"] = on_workers(tested, [48, 16])

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        return train_gang(tmp_path_factory.mktemp("gangs"), {name: two[name] for name in names})

    first, *others = two
    return Grouped(train, [first], others)


@pytest.fixture(scope="module")
def other_gangs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("others")
    two = alike(OTHER_TWO)
    two["everything"] = on_workers(profile(ADAM, model=EVERYTHING), [60, 4])
    for name, cache in KEPT_IMAGES.items():
        two[name] = with_images(root / name, cache)
    return train_gang(root / "two", two) | train_gang(root / "three", alike(OTHER_THREE))


def with_images(folder: Path, cache: DataCache) -> Profile:
    data = images(folder / "images").model_copy(update={"cache": cache})
    return on_workers(profile(changed(epochs=1, learning_rate=0.01), data=data), [48, 16])


def images(folder: Path, seed: int = 3) -> ImagesData:
    random = np.random.default_rng(seed)
    for name in ("dark", "light"):
        (folder / name).mkdir(parents=True)
        for number in range(60):
            pixels = random.integers(0, 128, (9, 9, 3)) + (100 if name == "light" else 0)
            Image.fromarray(pixels.astype(np.uint8)).save(folder / name / f"{number}.png")
    return ImagesData(
        path=str(folder), image_size=(8, 8), cache=DataCache.NONE, validation_fraction=0.3
    )


def furthest(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> float:
    """The greatest difference of two states, relative to the size of the variable."""
    assert one.keys() == other.keys()
    return max(
        float(np.abs(one[name] - other[name]).max() / max(np.abs(one[name]).max(), 1e-12))
        for name in one
    )


def states(layout: RunLayout) -> list[dict[str, np.ndarray]]:
    """What each worker's variables held at the end."""
    found = []
    for path in sorted(layout.root.glob("state-*.npz")):
        with np.load(path) as arrays:
            found.append({name: arrays[name] for name in arrays})
    return found


@pytest.mark.parametrize("name", others_long(TWO, FIRST))
def test_that_workers_reach_the_weights_and_metrics_of_one_device(
    one_device: dict[str, RunLayout], gangs: dict[str, RunLayout], name: str
) -> None:
    assert_reached(gangs[name], one_device[TWO[name][0]])


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_that_other_workers_reach_the_weights_and_metrics_of_one_device_with_the_same_bits(
    one_device_of_others: dict[str, RunLayout], other_gangs: dict[str, RunLayout], name: str
) -> None:
    assert_reached(other_gangs[name], one_device_of_others[OTHERS[name][0]])
    assert_same_bits(other_gangs[name], workers=3 if name in OTHER_THREE else 2)


def assert_reached(run: RunLayout, alone: RunLayout) -> None:
    assert furthest(variables(alone), variables(run)) < 1e-5
    expected = last_metrics(alone).model_dump(exclude_none=True)
    measured = last_metrics(run).model_dump(exclude_none=True)
    assert measured == pytest.approx(expected, rel=1e-5)
    # How many are right is counted: no rounding.
    assert measured["accuracy"] == expected["accuracy"]
    assert measured["val_accuracy"] == expected["val_accuracy"]
    assert gradient_norm(run) == pytest.approx(gradient_norm(alone), rel=1e-5)
    assert said_of_labels(run) == pytest.approx(said_of_labels(alone), abs=1e-4)


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunLayout]:
    """Each with the optimizer's state divided, and, as "whole", without."""
    profiles = {}
    for name, (one, quotas, shares) in DIVIDED.items():
        for kind, state in ((name, quotas), (f"{name}, whole", "replicated")):
            strategy = on_workers(one, shares).strategy
            strategy = strategy.model_copy(update={"optimizer_state": state})
            profiles[kind] = one.model_copy(update={"strategy": strategy})
    return train_gang(tmp_path_factory.mktemp("divided"), profiles)


@pytest.mark.long
@pytest.mark.parametrize("name", DIVIDED)
def test_that_workers_that_divide_the_optimizers_state_reach_the_same_bits(
    divided: dict[str, RunLayout], name: str
) -> None:
    plan = parse_plan(divided[name].plan.read_bytes())
    assert plan.optimizer_quotas == DIVIDED[name][1]
    parts, whole = variables(divided[name]), variables(divided[f"{name}, whole"])
    assert parts.keys() == whole.keys()
    assert [key for key in whole if whole[key].tobytes() != parts[key].tobytes()] == []
    # What each of them gathered of the others at the end, too.
    assert_same_bits(divided[name], workers=2)


@pytest.mark.parametrize("name", others_long([*TWO, "images from disk"], FIRST))
def test_that_all_workers_hold_the_same_bits(gangs: dict[str, RunLayout], name: str) -> None:
    assert_same_bits(gangs[name], workers=2)


def assert_same_bits(run: RunLayout, workers: int) -> None:
    first, *others = states(run)

    assert len(others) == workers - 1
    for other in others:
        assert {key: value.tobytes() for key, value in first.items()} == {
            key: value.tobytes() for key, value in other.items()
        }


@pytest.mark.slow
def test_that_everything_together_learns(other_gangs: dict[str, RunLayout]) -> None:
    assert_same_bits(other_gangs["everything"], workers=2)
    metrics = last_metrics(other_gangs["everything"])

    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.5  # guessing: 0.1


@pytest.mark.slow
def test_that_where_images_are_kept_changes_nothing(other_gangs: dict[str, RunLayout]) -> None:
    from_disk, in_memory = other_gangs["images from disk"], other_gangs["images in memory"]

    assert furthest(variables(from_disk), variables(in_memory)) < 1e-6
    kept = variables(other_gangs["images kept on disk"])
    assert {name: value.tobytes() for name, value in kept.items()} == {
        name: value.tobytes() for name, value in variables(from_disk).items()
    }


@pytest.mark.long
def test_that_workers_change_images_and_measure_the_test_set_at_the_end_as_one_device_does(
    one_device: dict[str, RunLayout], gangs: dict[str, RunLayout]
) -> None:
    measured, expected = reached(gangs["tested"]), reached(one_device["tested"])

    assert expected.test_loss is not None
    assert measured.test_loss == pytest.approx(expected.test_loss, rel=1e-5)
    assert measured.test_accuracy == expected.test_accuracy
    alone, together = variables(one_device["tested"]), variables(gangs["tested"])
    assert furthest(alone, together) < 1e-5
    # The same images, as they are.
    assert furthest(together, variables(gangs["images from disk"])) > 1e-3
    # 84 to train on, with the neighbour of the first example in each of two batches, 36 to
    # validate, 120 to test; shares of 48 and 16.
    root = gangs["tested"].root
    assert (root / "read-0").read_text() == str(
        KNOWN_BY + 48 + 1 + 15 + 1 + 27 + FOLLOWED + 48 + 42
    )
    assert (root / "read-1").read_text() == str(16 + 1 + 5 + 1 + 9 + 16 + 14)


@pytest.mark.long
def test_that_each_worker_reads_its_own_share_of_the_files(gangs: dict[str, RunLayout]) -> None:
    root = gangs["images from disk"].root
    # One epoch of 84 files in batches of 64 and 20, and 36 to validate; shares of 48 and 16.
    assert (root / "read-0").read_text() == str(KNOWN_BY + 48 + 15 + 27 + FOLLOWED)
    assert (root / "read-1").read_text() == str(16 + 5 + 9)


def test_that_only_one_worker_reports_and_saves(gangs: dict[str, RunLayout]) -> None:
    layout = gangs[FIRST]
    epochs = [line for line in layout.events.read_text().splitlines() if '"epoch_done"' in line]

    assert len(epochs) == 3
    assert layout.model.is_file()


@pytest.mark.slow
def test_that_workers_with_a_time_limit_train_the_same_epochs_to_the_same_bits(
    tmp_path: Path,
) -> None:
    training = changed(
        epochs=100_000, time_limit="8s", schedule=ScheduleSettings(kind="cosine"), clip_norm=0.5
    )
    layout = train_gang(tmp_path, {"limited": on_workers(profile(training), [48, 16])})["limited"]
    kinds = [type(event) for event in all_events(layout)]
    assert kinds.count(EpochsFitted) == 1
    assert kinds.count(EpochDone) > 2
    states = [np.load(layout.root / f"state-{place}.npz") for place in (0, 1)]
    assert states[0].files == states[1].files
    for name in states[0].files:
        assert states[0][name].tobytes() == states[1][name].tobytes()
