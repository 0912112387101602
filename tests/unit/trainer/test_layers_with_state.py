"""Batch normalisation and dropout under every strategy: statistics, random numbers, saving."""

import zipfile
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.grouped import Grouped, others_long
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    ONE_DEVICE,
    changed,
    evaluation,
    furthest,
    last_metrics,
    profile,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow

KINDS: dict[str, tuple[StrategySettings, list[int]]] = {
    "one device": (ONE_DEVICE, [64]),
    "mirrored": (StrategySettings(kind=StrategyKind.MIRRORED), [60, 4]),
    "central storage": (StrategySettings(kind=StrategyKind.CENTRAL_STORAGE), [60, 4]),
}
CHOSEN = (
    "together, one device",
    "together, mirrored",
    "apart, mirrored",
    "frozen, one device",
    "frozen, accumulated, mirrored",
    "everything, mirrored",
)
"""The others are for ``make test-slow``: another strategy, one device by itself, XLA, and dropout,
which any split of a batch draws alike in ``test_the_rule_for_random_layers.py``."""
EVERYTHING = ("everything", "everything, compiled")
EVALUATED = ("together", "apart", "dropped")
SHARING = ("mirrored", "central storage")

TOGETHER = MlpModel(hidden=(32,), batch_norm=True)
APART = MlpModel(hidden=(32,), batch_norm=True, batch_norm_synchronized=False)
DROPPED = MlpModel(hidden=(32,), dropout=0.3)
FROZEN = changed(learning_rate=1e-30, epochs=1)
HALF: TrainingSettings = changed(
    optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, mixed_precision=True
)
IMAGES = CnnModel(filters=(4,), batch_norm=True, dropout=0.2)


def plans() -> dict[str, tuple[Profile, Sequence[int]]]:
    """Every run of this module."""
    found: dict[str, tuple[Profile, Sequence[int]]] = {}
    everything = HALF.model_copy(update={"clip_norm": 5.0, "accumulation_steps": 2})
    compiled = HALF.model_copy(update={"clip_norm": 5.0, "jit_compile": True})
    for kind, (strategy, shares) in KINDS.items():
        for name, training, model in (
            ("together", changed(), TOGETHER),
            ("apart", changed(), APART),
            ("frozen", FROZEN, APART),
            ("frozen, accumulated", FROZEN.model_copy(update={"accumulation_steps": 3}), APART),
            ("dropped", changed(epochs=1), DROPPED),
            ("everything", everything, IMAGES),
            ("everything, compiled", compiled, APART.model_copy(update={"dropout": 0.2})),
        ):
            found[f"{name}, {kind}"] = profile(training, strategy, model=model), shares
    again = changed(epochs=1), KINDS["mirrored"][0]
    found["dropped, again"] = profile(*again, model=DROPPED), KINDS["mirrored"][1]
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """The chosen ones; the first two, which are quick, by themselves."""
    every = plans()

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        chosen = {name: every[name] for name in names}
        evaluated = [name for name in ("together, mirrored", "apart, mirrored") if name in names]
        return train_all(tmp_path_factory.mktemp("layers"), make_run, chosen, evaluated=evaluated)

    return Grouped(train, CHOSEN[:2], CHOSEN[2:])


@pytest.fixture(scope="module")
def all_runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    evaluated = [f"{name}, {kind}" for name in EVALUATED for kind in KINDS]
    return train_all(tmp_path_factory.mktemp("all"), make_run, plans(), evaluated=evaluated)


def moving(layout: RunLayout) -> Mapping[str, np.ndarray]:
    found = {name: array for name, array in variables(layout).items() if "moving_" in name}
    assert found
    return found


def assert_close(some: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> None:
    assert some.keys() == others.keys()
    for name, array in some.items():
        assert np.abs(array - others[name]).max() < 1e-5 * np.abs(array).max(), name


def test_that_synchronised_normalisation_learns_what_one_device_learns(
    runs: dict[str, RunLayout],
) -> None:
    assert_learned_together(runs, "mirrored")


@pytest.mark.slow
def test_that_it_does_so_where_one_device_holds_the_weights(
    all_runs: dict[str, RunLayout],
) -> None:
    assert_learned_together(all_runs, "central storage")


def assert_learned_together(runs: dict[str, RunLayout], kind: str) -> None:
    one, other = variables(runs["together, one device"]), variables(runs[f"together, {kind}"])
    weights = {name for name in one if name.startswith("model/")}

    assert_close({name: one[name] for name in weights}, {name: other[name] for name in weights})
    assert last_metrics(runs[f"together, {kind}"]).val_loss == pytest.approx(
        last_metrics(runs["together, one device"]).val_loss, rel=1e-5
    )


@pytest.mark.long
def test_that_normalisation_apart_sees_each_replicas_own_part(runs: dict[str, RunLayout]) -> None:
    assert_seen_apart(runs, "mirrored")


@pytest.mark.slow
def test_that_it_sees_the_same_where_one_device_holds_the_weights(
    all_runs: dict[str, RunLayout],
) -> None:
    assert_seen_apart(all_runs, "central storage")
    mirrored, central = (variables(all_runs[f"apart, {kind}"]) for kind in SHARING)
    assert_close(mirrored, central)


def assert_seen_apart(runs: dict[str, RunLayout], kind: str) -> None:
    name = "model/dense_1/kernel"
    together, apart = (variables(runs[f"{one}, {kind}"])[name] for one in ("together", "apart"))

    assert np.abs(together - apart).max() > 1e-2 * np.abs(together).max()


@pytest.mark.long
def test_that_moving_statistics_are_those_of_the_whole_batch(runs: dict[str, RunLayout]) -> None:
    # The weights stay as they are, so the first normalisation sees the same inputs everywhere;
    # each update moves its statistics once, also after several micro-batches.
    assert_close(moving(runs["frozen, one device"]), moving(runs["frozen, accumulated, mirrored"]))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", ", accumulated"])
@pytest.mark.parametrize("kind", KINDS)
def test_that_moving_statistics_are_those_of_the_whole_batch_however_it_is_divided(
    all_runs: dict[str, RunLayout], kind: str, suffix: str
) -> None:
    one, other = all_runs["frozen, one device"], all_runs[f"frozen{suffix}, {kind}"]
    assert_close(moving(one), moving(other))


@pytest.mark.parametrize("name", others_long(["together", "apart"], "together"))
def test_that_plain_keras_measures_the_same_with_the_saved_model(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_measured_alike(runs[f"{name}, mirrored"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVALUATED)
def test_that_plain_keras_measures_the_same_after_every_strategy(
    all_runs: dict[str, RunLayout], name: str, kind: str
) -> None:
    assert_measured_alike(all_runs[f"{name}, {kind}"])


def assert_measured_alike(layout: RunLayout) -> None:
    loss, accuracy = evaluation(layout)["validation"]
    metrics = last_metrics(layout)

    assert metrics.val_loss == pytest.approx(loss, rel=1e-5)
    assert metrics.val_accuracy == pytest.approx(accuracy, rel=1e-6)


@pytest.mark.long
def test_that_a_saved_model_needs_nothing_but_keras(runs: dict[str, RunLayout]) -> None:
    with zipfile.ZipFile(runs["everything, mirrored"].model) as saved:
        config = saved.read("config.json").decode()

    assert '"BatchNormalization"' in config
    assert "gpupanel" not in config
    assert '"synchronized": true' not in config


@pytest.mark.slow
def test_that_dropout_is_repeated_by_the_seed(all_runs: dict[str, RunLayout]) -> None:
    once, again = variables(all_runs["dropped, mirrored"]), variables(all_runs["dropped, again"])

    for name, array in once.items():
        np.testing.assert_array_equal(array, again[name])


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHARING)
def test_that_dropout_drops_what_one_device_drops(
    all_runs: dict[str, RunLayout], kind: str
) -> None:
    one, other = all_runs["dropped, one device"], all_runs[f"dropped, {kind}"]
    assert furthest(one, other, "model/") < 1e-5


@pytest.mark.long
def test_that_everything_together_trains(runs: dict[str, RunLayout]) -> None:
    assert_trained_to_whole_floats(runs["everything, mirrored"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVERYTHING)
def test_that_everything_together_trains_under_every_strategy(
    all_runs: dict[str, RunLayout], name: str, kind: str
) -> None:
    assert_trained_to_whole_floats(all_runs[f"{name}, {kind}"])


def assert_trained_to_whole_floats(layout: RunLayout) -> None:
    metrics = last_metrics(layout)

    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.5  # guessing: 0.1
    assert all(array.dtype != np.float16 for array in variables(layout).values())
