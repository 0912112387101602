"""The exported script of data and models of one's own trains as the run does, whatever they are."""

import json
import os
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import Target
from gpupanel.domain.model import MlpModel, Outputs
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.directory.templates import copy_template, templates
from tests.forked.processes import run_forked
from tests.grouped import Grouped, others_long
from tests.sessions.both import Both, carry_out_both, plan_of
from tests.unit.trainer.array_code import (
    CHAINED_TASKS,
    CODE,
    FOUR_TASKS,
    LISTED_TASKS,
    SEQUENCE,
    SERIES,
    SQUARES,
    TASKS,
    TWICE_TASKS,
    array_profile,
)
from tests.unit.trainer.trained_runs import SGD

pytestmark = pytest.mark.tensorflow

QUICK = ("inputs to tasks",)
OTHERS = (
    "masks",
    "pixels",
    "own tasks",
    "flags",
    "series",
    "own",
    "pixel squares",
    "inputs",
    "two pictures",
    "tasks",
    "rows",
)
STRATEGIES: dict[str, tuple[str, StrategyKind, object, dict[str, Any]]] = {
    "masks on unequal shares": (
        "masks",
        StrategyKind.MIRRORED,
        (40, 0, 24),
        {"accumulation_steps": 3, "clip_norm": 0.3, "keep": Keep.BEST},
    ),
    "inputs on two replicas": (
        "inputs",
        StrategyKind.MIRRORED,
        (40, 24),
        {"ema": 0.9, "best_metric": BestMetric.ACCURACY, "keep": Keep.BEST},
    ),
    "inputs and tasks, compiled": (
        "inputs to tasks",
        StrategyKind.CENTRAL_STORAGE,
        "equal",
        {"jit_compile": True, "mixed_precision": True},
    ),
    "a loss in micro-batches": (
        "own",
        StrategyKind.ONE_DEVICE,
        "equal",
        {"accumulation_steps": 2, "optimizer": Optimizer.ADAM, "learning_rate": 1e-3},
    ),
    "an autoencoder on two replicas": ("pixels", StrategyKind.MIRRORED, "equal", {}),
}
ENDINGS = {
    "chained": CHAINED_TASKS,
    "twice": TWICE_TASKS,
    "listed": LISTED_TASKS,
    "said": FOUR_TASKS.replace(
        '"corner": corner', '"corner": layers.Lambda(lambda given: given * 1.0)(corner)'
    ).replace('activation="softmax")(seen)', "activation=keras.ops.softmax)(seen)"),
}
"""Models of several outputs, by where their softmax and sigmoid stand."""
TEMPLATES = ("two-inputs", "autoencoder", "masks", "several-tasks")
MISFITS = {
    "mean of a batch": (
        SERIES,
        SEQUENCE + SQUARES.replace("axis=tuple(range(1, len(squares.shape)))", "axis=None"),
        Target.VALUES,
    ),
    "swapped": (TASKS, FOUR_TASKS.replace("Dense(2, act", "Dense(3, act"), Target.CLASSES),
}
"""A loss that is not of each example; and an output that is not as wide as its labels."""
OF_RUNS = tuple({*SET_METRICS} - {"loss", "accuracy", "mean_absolute_error"})
"""F1 and the like: a script does not print them."""


def shared_out(name: str, folder: Path) -> Profile:
    code, kind, shares, training = STRATEGIES[name]
    settings = StrategySettings(kind=kind, shares=shares)
    chosen = array_profile(code, folder, SGD.model_copy(update=training), settings)
    replicas = 1 if kind is StrategyKind.ONE_DEVICE else 2
    replicas = len(shares) if isinstance(shares, tuple) else replicas
    return chosen.model_copy(
        update={"devices": DeviceSettings(visible=("cpu",), cpu_replicas=replicas)}
    )


def of_template(name: str, folder: Path) -> Profile:
    (template,) = (each for each in templates() if each.name == name)
    chosen = read_profile(copy_template(template, folder / name))
    training = chosen.training.model_copy(update={"epochs": 2, "tensorboard": False})
    return chosen.model_copy(update={"training": training})


def of_outputs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Profile:
    data, _, target = CODE["tasks"]
    monkeypatch.setitem(CODE, name, (data, ENDINGS[name], target))
    chosen = array_profile(name, folder, SGD)
    if name != "said":
        return chosen
    said = chosen.model.model_copy(update={"outputs": Outputs.PROBABILITIES})
    return chosen.model_copy(update={"model": said})


@pytest.fixture(scope="module")
def carried_out(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    root = tmp_path_factory.mktemp("own code")

    def carry_out(names: Sequence[str]) -> dict[str, Both]:
        folder = root / str(len(names))
        folder.mkdir()
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(root / "config"))
            profiles = {}
            for name in names:
                if name in STRATEGIES:
                    profiles[name] = shared_out(name, folder)
                elif name in TEMPLATES:
                    profiles[name] = of_template(name, folder)
                elif name in ENDINGS:
                    profiles[name] = of_outputs(name, folder, monkeypatch)
                else:
                    profiles[name] = array_profile(name, folder, SGD)
            return carry_out_both(folder / "sessions", profiles)

    return Grouped(carry_out, QUICK, (*OTHERS, *ENDINGS), (*STRATEGIES, *TEMPLATES))


def by_name(line: str) -> dict[str, float]:
    """What a line of a script says, by the names that a run has for it."""
    said = re.findall(r"([a-z][a-z_0-9 ]*?) ([-+.0-9e]+)(?:  |$)", line.partition("epoch ")[2])
    found = said or re.findall(r"([a-z][a-z_0-9 ]*?) ([-+.0-9e]+)(?:  |$)", line)
    return {name.strip().replace(" ", "_"): float(number) for name, number in found}


def in_file(path: Path, member: str) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        read: dict[str, Any] = json.loads(archive.read(member))
    return read


def assert_alike(both: Both) -> None:
    """The same epochs; and a model that takes, gives and says of itself the same."""
    assert (both.error("run"), both.error("script")) == (None, None)
    epochs = [line for line in both.printed() if line.startswith("epoch")]
    assert len(epochs) == len(both.epochs())
    for line, wanted in zip(epochs, both.epochs(), strict=True):
        named = {key: each for key, each in wanted.items() if not key.endswith(OF_RUNS)}
        found = by_name(line.partition("  ")[2])
        assert found == pytest.approx(named, rel=1e-4, abs=2e-6)
    mine, other = both.folder / "model.keras", both.run.model
    for end in ("input_layers", "output_layers"):
        one, two = (in_file(each, "config.json")["config"][end] for each in (mine, other))
        assert one == two
    said, known = (TrainedOn(**in_file(each, TRAINED_ON_MEMBER)) for each in (mine, other))
    of_script = ("predicts", "outputs", "class_names", "parts", "own_metrics")
    assert {key: getattr(said, key) for key in of_script} == {
        key: getattr(known, key) for key in of_script
    }


@pytest.mark.parametrize("name", others_long((*QUICK, *OTHERS, *ENDINGS, *TEMPLATES), *QUICK))
def test_that_a_script_of_own_code_ends_with_the_bits_of_the_run(
    carried_out: dict[str, Both], name: str
) -> None:
    assert_alike(carried_out[name])
    carried_out[name].assert_same_bits()


@pytest.mark.long
@pytest.mark.parametrize("name", STRATEGIES)
def test_that_a_script_of_own_code_divides_batches_as_the_run(
    carried_out: dict[str, Both], name: str
) -> None:
    both = carried_out[name]
    assert_alike(both)
    assert both.furthest() < 1e-5


def test_that_a_test_set_is_measured_by_name(carried_out: dict[str, Both]) -> None:
    *_, last = carried_out["inputs to tasks"].printed()
    tested = by_name(last)
    assert tested["test_loss"] == pytest.approx(
        sum(tested[f"test_{each}_loss"] for each in ("corner", "mask", "spread")), abs=2e-6
    )
    assert {"test_mask_accuracy", "test_spread_error"} < tested.keys()


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("masks", {"model": MlpModel()}, "takes one label, or a row of labels, for each example"),
        ("inputs", {"model": MlpModel()}, "takes one input and one output for each example"),
        ("tasks", {"data.stratify": True}, "takes one input and one output for each example"),
        ("masks", {"data.stratify": True}, "takes one label, or a row of labels, for each example"),
        ("rows", {"data.stratify": True}, "of data.stratify does not know a loss of your own"),
        ("mean of a batch", {}, "loss does not give one number for each example"),
        ("swapped", {}, "and the labels need"),
        ("own", {"training.best_metric": BestMetric.ERROR}, "known to your own loss alone"),
        ("tasks", {"training.best_metric": BestMetric.ACCURACY}, "there are several outputs"),
    ],
)
def test_that_a_script_refuses_what_it_does_not_train_as_the_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    changes: dict[str, object],
    words: str,
) -> None:
    for misfit, code in MISFITS.items():
        monkeypatch.setitem(CODE, misfit, code)
    profile = array_profile(name, tmp_path, SGD)
    plan = plan_of(profile)
    for key, value in changes.items():
        table, _, setting = key.partition(".")
        if setting:
            value = getattr(profile, table).model_copy(update={setting: value})
        profile = profile.model_copy(update={table: value})
    script = tmp_path / "script.py"
    script.write_text(stand_alone_script(profile, plan), encoding="utf-8")

    done = run_forked(
        [sys.executable, str(script)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        cwd=str(tmp_path),
    )
    assert (done.returncode, words in done.stderr) == (1, True), done.stderr[-2000:]
    assert not (tmp_path / "model.keras").exists()
