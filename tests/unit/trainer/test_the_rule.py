"""Any split of a batch is the same mathematics: strategy, replicas, shares, micro-batches.

Every strategy is tried with uneven shares, and micro-batches with uneven, idle and many replicas: a
fault of a split, a reduction or a remainder shows there. Every setting of the optimizer, and all
combinations, take minutes of a core, so they are for ``make test-slow``.
"""

from collections.abc import Sequence

import pytest

from gpupanel.domain.events import StepsDone
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import Loss
from tests.grouped import Grouped, others_long
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    all_events,
    changed,
    furthest,
    gradient_norm,
    last_metrics,
    profile,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow

# Both are clipped at most steps: the norm of the gradient is about 1 here.
OPTIMIZERS = {
    "sgd": changed(clip_norm=0.5),
    "adam": changed(optimizer=Optimizer.ADAM, momentum=0.0, learning_rate=3e-3, clip_norm=0.5),
    "averaged": changed(nesterov=True, weight_decay=1e-2, ema=0.9, clip_norm=0.5),
    "cosine": changed(schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5), clip_norm=0.5),
    "plateau": changed(
        learning_rate=0.1,
        weight_decay=0.3,
        schedule=ScheduleSettings(kind="reduce_on_plateau", patience_epochs=1, factor=0.3),
        epochs=5,
    ),
    "softened": changed(loss=Loss.FOCAL, label_smoothing=0.1, clip_norm=0.5),
    "lion": changed(optimizer=Optimizer.LION, momentum=0.0, learning_rate=1e-3, clip_norm=0.5),
}
"""Of lion the sign of a sum counts: it may differ where the sum is nothing but rounding."""
ONE, MIRRORED, CENTRAL = (
    StrategySettings(),
    StrategySettings(kind=StrategyKind.MIRRORED),
    StrategySettings(kind=StrategyKind.CENTRAL_STORAGE),
)
TO_ONE_DEVICE, HIERARCHICAL = (
    MIRRORED.model_copy(update={"all_reduce": way})
    for way in (AllReduce.REDUCTION_TO_ONE_DEVICE, AllReduce.HIERARCHICAL_COPY)
)
SPLITS: dict[str, tuple[StrategySettings, list[int]]] = {
    "mirrored": (MIRRORED, [32, 32]),
    "mirrored, 60 + 4": (MIRRORED, [60, 4]),
    "mirrored, 64 + 0": (MIRRORED, [64, 0]),
    # In one process TensorFlow's collectives are all over the same devices: not these.
    "mirrored, 40 + 20 + 4": (TO_ONE_DEVICE, [40, 20, 4]),
    "mirrored, 30 + 20 + 10 + 4": (HIERARCHICAL, [30, 20, 10, 4]),
    "central storage": (CENTRAL, [32, 32]),
    "central storage, 60 + 4": (CENTRAL, [60, 4]),
    "central storage, 40 + 20 + 4": (CENTRAL, [40, 20, 4]),
}
ACCUMULATION = {"": 1, ", accumulated": 3}
COMPILED = ("one device", "mirrored, 60 + 4", "central storage, 60 + 4")


def plans() -> dict[str, tuple[Profile, Sequence[int]]]:
    """Every run of this module."""
    found: dict[str, tuple[Profile, Sequence[int]]] = {}
    for optimizer, training in OPTIMIZERS.items():
        for suffix, steps in ACCUMULATION.items():
            settings = training.model_copy(update={"accumulation_steps": steps})
            found[f"{optimizer}, one device{suffix}"] = profile(settings), [64]
            for split, (strategy, shares) in SPLITS.items():
                found[f"{optimizer}, {split}{suffix}"] = profile(settings, strategy), shares
    sgd = OPTIMIZERS["sgd"]
    compiled = sgd.model_copy(update={"jit_compile": True, "accumulation_steps": 2})
    for split in COMPILED:
        strategy, shares = SPLITS.get(split, (ONE, [64]))
        found[f"sgd, {split}, compiled"] = profile(compiled, strategy), shares
    found["another seed"] = profile(sgd.model_copy(update={"seed": 8})), [64]
    found["not clipped"] = profile(changed()), [64]
    return found


COMPARED_WITH = (
    "sgd, one device",
    "adam, one device",
    "averaged, one device",
    "plateau, one device",
    "not clipped",
)
CHOSEN = (
    "sgd, mirrored, 60 + 4",
    "sgd, mirrored, 64 + 0, accumulated",
    "adam, mirrored, 30 + 20 + 10 + 4, accumulated",
    "averaged, central storage, 40 + 20 + 4, accumulated",
    "sgd, mirrored, 60 + 4, compiled",
)
QUICK = (
    *("sgd, one device", "sgd, mirrored, 60 + 4", "not clipped"),
    *("averaged, one device", "averaged, central storage, 40 + 20 + 4, accumulated"),
)
"""Of these; the others are for ``make test-long``."""
ALONE = ("another seed", *(f"{optimizer}, one device" for optimizer in OPTIMIZERS))
OTHERS = tuple(name for name in plans() if name not in COMPARED_WITH + CHOSEN + ALONE)
"""For ``make test-slow``, as are those that only they are compared with."""
DIFFERENT = ("not clipped", "adam, one device", "averaged, one device")
OTHERS_DIFFERENT = ("another seed", "cosine, one device", "softened, one device")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """The chosen runs and those that they are compared with; what is quick by itself."""

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        return trained(names, tmp_path_factory, make_run)

    return Grouped(train, QUICK, [name for name in COMPARED_WITH + CHOSEN if name not in QUICK])


@pytest.fixture(scope="module")
def other_runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """All of them."""
    return trained(tuple(plans()), tmp_path_factory, make_run)


def trained(
    names: Sequence[str], tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> dict[str, RunLayout]:
    every = plans()
    return train_all(
        tmp_path_factory.mktemp("rule"), make_run, {name: every[name] for name in names}
    )


@pytest.mark.parametrize("name", others_long(CHOSEN, *QUICK))
def test_that_any_split_gives_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_like_one_device(runs, runs[name], name)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_that_every_other_split_gives_the_weights_and_metrics_of_one_device(
    other_runs: dict[str, RunLayout], name: str
) -> None:
    assert_like_one_device(other_runs, other_runs[name], name)


def assert_like_one_device(runs: dict[str, RunLayout], run: RunLayout, name: str) -> None:
    one_device = runs[f"{name.split(',')[0]}, one device"]

    assert furthest(one_device, run) < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    measured = last_metrics(run).model_dump(exclude_none=True)
    assert measured == pytest.approx(expected, rel=1e-5)
    # How many are right is counted: no rounding.
    assert measured["accuracy"] == expected["accuracy"]
    assert gradient_norm(run) == pytest.approx(gradient_norm(one_device), rel=1e-5)


@pytest.mark.parametrize("other", others_long(DIFFERENT, *QUICK))
def test_that_what_should_differ_differs(runs: dict[str, RunLayout], other: str) -> None:
    assert_different(runs, other)


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS_DIFFERENT)
def test_that_what_else_should_differ_differs(other_runs: dict[str, RunLayout], other: str) -> None:
    assert_different(other_runs, other)


def assert_different(runs: dict[str, RunLayout], other: str) -> None:
    name = "model/dense_1/kernel"
    one = variables(runs["sgd, one device"])[name]

    assert abs(one - variables(runs[other])[name]).max() > 1e-2 * abs(one).max()


def test_that_the_norm_of_a_gradient_is_that_before_it_is_clipped(
    runs: dict[str, RunLayout],
) -> None:
    clipped, plain = runs["sgd, one device"], runs["not clipped"]
    first = [
        next(event for event in all_events(run) if isinstance(event, StepsDone))
        for run in (clipped, plain)
    ]

    # Clipping begins with 0.5.
    assert gradient_norm(clipped) > 0.6
    assert {event.steps for event in first} == {1}
    assert first[0].gradient_norm == pytest.approx(first[1].gradient_norm, rel=1e-6)


@pytest.mark.long
def test_that_a_rate_that_follows_the_loss_was_lowered(runs: dict[str, RunLayout]) -> None:
    rates = [
        event.learning_rate
        for event in all_events(runs["plateau, one device"])
        if isinstance(event, StepsDone)
    ]

    # The loss of the fourth epoch is above that of the third.
    assert sorted(set(rates)) == pytest.approx([0.03, 0.1])
    assert rates == sorted(rates, reverse=True)
    learned = variables(runs["plateau, one device"])["optimizer/sgd/learning_rate"]
    assert learned == pytest.approx(0.03)
