"""Runs trained in one child, and what they left behind."""

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import DataSettings, DigitsData
from gpupanel.domain.events import EpochDone, Event, StepsDone, TrainingEnded, decode_event
from gpupanel.domain.model import MlpModel, ModelSettings
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.trainer.saving.checkpoint_files import STATE_FILE
from gpupanel.trainer.saving.checkpoints import Checkpoints
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun

DIGITS = DigitsData(validation_fraction=0.2)
MLP = MlpModel(hidden=(32,))
ONE_DEVICE = StrategySettings()
SGD = TrainingSettings(
    epochs=3, optimizer=Optimizer.SGD, learning_rate=0.1, momentum=0.9, keep=Keep.LAST
)
"""Its model is compared with the metrics of the last epoch."""

SMALL_BASE = str(Path(__file__).with_name("with_small_base.py"))
"""Before a program, it puts a small network in place of MobileNet."""

COUNTED = {"TF_ENABLE_ONEDNN_OPTS": "1"}
"""On some CPUs TensorFlow has another allocator without it, which counts nothing."""

CHILD_ENVIRONMENT = {
    **os.environ,
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "GPUPANEL_SUPERVISOR_PID": "",
}
"""Of a process that trains in place of a trainer."""

Plans = Mapping[str, tuple[Profile, Sequence[int]]]
"""Runs by name, each with its shares."""


def profile(
    training: TrainingSettings = SGD,
    strategy: StrategySettings = ONE_DEVICE,
    *,
    model: ModelSettings = MLP,
    data: DataSettings = DIGITS,
) -> Profile:
    return Profile(data=data, model=model, training=training, strategy=strategy)


def changed(**changes: object) -> TrainingSettings:
    return SGD.model_copy(update=changes)


def train_all(
    root: Path,
    make_run: MakeRun,
    plans: Plans,
    *,
    evaluated: Collection[str] = (),
    to_the_bit: bool = False,
    small_base: bool = False,
    each_step_saved: bool = False,
    **environment: str,
) -> dict[str, RunLayout]:
    """Train every run in one child.

    Args:
        root: Gets a run directory for each.
        make_run: Makes them.
        plans: The runs.
        evaluated: Runs whose saved model is to be measured by plain Keras, too.
        to_the_bit: As a trainer itself would, and not in five sixths of the time.
        small_base: With a small network in place of MobileNet.
        each_step_saved: With a checkpoint after each step.
        environment: Of the child, beside this process's.
    """
    layouts = {
        name: make_run(root / f"{number:02}", *plan)
        for number, (name, plan) in enumerate(plans.items())
    }

    # Devices are configured by the first one's plan: it has to have most of them.
    def devices(name: str) -> int:
        one, shares = plans[name]
        return len(shares) * (one.strategy.devices_per_replica or 1)

    order = sorted(layouts, key=devices, reverse=True)
    train_layouts(
        [layouts[name] for name in order],
        *(f"--evaluated={layouts[name].root}" for name in evaluated),
        *(() if to_the_bit else ("--as-written",)),
        *(("--each-step-saved",) if each_step_saved else ()),
        small_base=small_base,
        **environment,
    )
    return layouts


def train_layouts(
    layouts: Sequence[RunLayout], *arguments: str, small_base: bool = False, **environment: str
) -> None:
    """Train runs that are there, or have them go on from their checkpoints, in one child."""
    done = run_forked(
        [
            sys.executable,
            *([SMALL_BASE] if small_base else []),
            str(Path(__file__).with_name("train_several.py")),
            *(str(layout.root) for layout in layouts),
            *arguments,
        ],
        env={**CHILD_ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def gradient_norm(layout: RunLayout) -> float:
    """Mean over all steps of a run of the norm of each one's gradient, as it was reported."""
    reports = [event for event in all_events(layout) if isinstance(event, StepsDone)]
    sums = [report.steps * report.gradient_norm for report in reports]
    return sum(sums) / sum(report.steps for report in reports)


def variables(layout: RunLayout) -> dict[str, np.ndarray]:
    """Every variable of model and optimizer at the end, by name."""
    with np.load(Checkpoints(layout.checkpoints).saved()[-1] / STATE_FILE) as arrays:
        return {name: arrays[name] for name in arrays}


def state(layout: RunLayout) -> list[np.ndarray]:
    """Every variable of model and optimizer at the end."""
    return list(variables(layout).values())


def furthest(one: RunLayout, other: RunLayout, begin: str = "") -> float:
    """The greatest difference of two states, relative to the size of the variable.

    Args:
        one: A run.
        other: Another one of the same variables.
        begin: Of the names of those that are compared.
    """
    of_one, of_other = variables(one), variables(other)
    assert list(of_one) == list(of_other)
    return max(
        float(np.abs(a - of_other[name]).max() / max(np.abs(a).max(), 1e-12))
        for name, a in of_one.items()
        if name.startswith(begin)
    )


def all_events(layout: RunLayout) -> list[Event]:
    return [decode_event(line) for line in layout.events.read_text(encoding="utf-8").splitlines()]


def last_metrics(layout: RunLayout) -> Metrics:
    return [event for event in all_events(layout) if isinstance(event, EpochDone)][-1].metrics


def reached(layout: RunLayout) -> Metrics:
    """What the end of the training reported."""
    return [event for event in all_events(layout) if isinstance(event, TrainingEnded)][-1].metrics


def evaluation(layout: RunLayout) -> dict[str, list[float]]:
    """What plain Keras measured with the saved model."""
    measured: dict[str, list[float]] = json.loads(
        (layout.root / "evaluation.json").read_text(encoding="utf-8")
    )
    return measured


def said_of_labels(layout: RunLayout) -> list[float]:
    """Which probability the model gave last to the class of each validation example it followed."""
    history = read_validation_history(layout)
    epochs = [event.epoch for event in all_events(layout) if isinstance(event, EpochDone)]
    assert history.epochs[-1].epoch == max(epochs)
    found = [each.label_probability for each in history.epochs[-1].predictions]
    assert len(found) == len(history.examples) == 16
    return [each for each in found if each is not None]
