"""Where operations are to be deterministic, runs are measured, and alike to the last bit."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import TimeReported
from gpupanel.domain.model import CnnModel, PythonModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.trainer.determinism import refused_as_random
from gpupanel.trainer.failures import problems_of
from tests.fakes.devices import CPU_ONLY
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    Plans,
    all_events,
    changed,
    furthest,
    profile,
    state,
    train_all,
)

NAMED = "/home/someone/deterministic.py"
ASKS_FOR_IT = """
import keras
import tensorflow as tf

def build_model(input_shape, outputs):
    tf.config.experimental.enable_op_determinism()
    return keras.Sequential([
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(outputs, activation="softmax"),
    ])
"""
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
BRIEF = changed(epochs=1)
OWN = profile(BRIEF, MIRRORED, model=PythonModel(path=NAMED))
CNN = profile(BRIEF, MIRRORED, model=CnnModel(filters=(4,), batch_norm=True, dropout=0.2))
RUNS: dict[str, tuple[Profile, Sequence[int]]] = {
    "before": (CNN, [48, 16]),
    "own": (OWN, [48, 16]),
    "once": (CNN, [48, 16]),
}
"""In their order; from the second one on everything is deterministic."""
TWICE: dict[str, tuple[Profile, Sequence[int]]] = {
    "own": (OWN, [48, 16]),
    "own again": (OWN, [48, 16]),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    return train(tmp_path_factory.mktemp("runs"), make_run, RUNS)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    return train(tmp_path_factory.mktemp("twice"), make_run, TWICE)


def train(root: Path, make_run: MakeRun, plans: Plans) -> dict[str, RunLayout]:
    def with_code(folder: Path, chosen: Profile, shares: Sequence[int]) -> RunLayout:
        layout = make_run(folder, chosen, shares)
        if isinstance(chosen.model, PythonModel):
            layout.code.mkdir()
            layout.model_code.write_text(ASKS_FOR_IT)
        return layout

    return train_all(root, with_code, plans, to_the_bit=True)


@pytest.mark.tensorflow
def test_that_two_runs_are_alike_to_the_last_bit(twice: dict[str, RunLayout]) -> None:
    one, other = (state(twice[name]) for name in ("own", "own again"))
    # Layers of the second model have other names.
    for array, again in zip(one, other, strict=True):
        np.testing.assert_array_equal(array, again)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_mathematics_stay_and_each_replica_is_still_timed(
    trained: dict[str, RunLayout], twice: dict[str, RunLayout]
) -> None:
    assert furthest(trained["before"], trained["once"]) < 1e-5
    for name, layout in [*trained.items(), *twice.items()]:
        spent = [each.spent for each in all_events(layout) if isinstance(each, TimeReported)]
        for replica in (0, 1):
            computing_s = sum(each.replicas[replica].computing_s for each in spent)
            seconds = sum(each.seconds for each in spent)
            assert 0.0 < computing_s < seconds, (name, replica)


class UnimplementedError(Exception):
    """Of the name of TensorFlow's."""


class FailedPreconditionError(Exception):
    """Of the name of TensorFlow's."""


IN_A_GRAPH = """Graph execution error:

Detected at node gradient_tape/model/AdjustContrastv2 defined at (most recent call last):
  File "/home/someone/deterministic/train.py", line 3, in call

A deterministic GPU implementation of AdjustContrastv2 is not currently available.
\t [[{{node gradient_tape/model/AdjustContrastv2}}]] [Op:__inference__steps_1]"""


def plan_of(chosen: Profile) -> LaunchPlan:
    plan = prepare(chosen, CPU_ONLY).plan
    assert plan is not None
    return plan


def problem_of(error: Exception, *, deterministic: bool = True) -> Problem:
    (found,) = problems_of(error, plan_of(profile(changed(deterministic=deterministic))))
    return found


def test_that_an_operation_without_a_deterministic_form_is_named_with_the_fix() -> None:
    found = problem_of(UnimplementedError(IN_A_GRAPH))
    assert found.code == "not_deterministic"
    assert found.field == "training.deterministic"
    assert "GPU implementation of AdjustContrastv2 is not currently" in found.message
    assert found.fix is not None
    assert found.fix.changes == (Change(path=("training", "deterministic"), value=False),)


def test_that_where_the_profile_does_not_ask_for_it_who_does_is_said() -> None:
    found = problem_of(UnimplementedError(IN_A_GRAPH), deterministic=False)
    assert found.fix is None
    assert "TF_DETERMINISTIC_OPS" in found.hint


def test_that_random_operations_are_asked_for_a_seed() -> None:
    # As tensorflow/python/framework/random_seed.py says it.
    words = (
        "Random ops require a seed to be set when determinism is enabled. Please set a seed "
        "before running the op, e.g. by calling tf.random.set_seed(1)."
    )
    assert "a seed" in problem_of(RuntimeError(words)).hint


@pytest.mark.parametrize(
    "error",
    [
        UnimplementedError("Cast string to float is not supported"),
        # The name of a file and of a node say nothing.
        FailedPreconditionError(
            '  File "/home/deterministic/a.py", line 3, in call\nNo such table'
        ),
        ValueError("deterministic = true: no such key"),
    ],
)
def test_that_another_error_is_not_taken_for_one_of_determinism(error: Exception) -> None:
    assert refused_as_random(error) == ""
