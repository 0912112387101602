"""Models of several inputs and outputs are evaluated as their training measured them."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.data import DigitsData, PythonData, Target
from gpupanel.domain.events import EvaluationDone, ProblemReported
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked
from tests.unit.trainer.array_code import CODE, array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    SGD,
    all_events,
    last_metrics,
    train_all,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

CHILD = Path(__file__).with_name("infer_arrays.py")
EVALUATED = ("inputs to tasks", "tasks", "inputs", "inputs, one by one", "masks", "flags", "pixels")
OWN = ("masks", "own", "own, one by one", "own tasks", "rows", "pixel squares")
"""Evaluated with the loss and the metrics of a person's own, too."""
TRAINED = tuple(dict.fromkeys((*EVALUATED, "series", *OWN)))
SHARES = {"one device": (64,), "40 + 20 + 4": (40, 20, 4)}
OF_TASKS = CODE["tasks"][0]
OTHERS = {
    "tasks of other classes": ("tasks", OF_TASKS.replace('["a", "b", "c"]', '["a", "b", "d"]')),
    "tasks of fewer outputs": (
        "tasks",
        OF_TASKS.replace('"tags": tags, ', "").replace(', "tags": "labels"', ""),
    ),
    "masks of numbers": ("masks", CODE["flags"][0].replace('"y": y > 0', '"y": y')),
    "masks of fewer classes": ("masks", CODE["flags"][0].replace('"y": y > 0', '"y": y % 2')),
    "masks of rows": ("masks", CODE["flags"][0].replace('"y": y > 0', '"y": y[:, 0, 0]')),
    "inputs of masks": ("masks", CODE["inputs"][0]),
    "other inputs": ("inputs", CODE["inputs"][0].replace('"row": row', '"line": row')),
    "one input": ("inputs", CODE["flags"][0].replace('"y": y > 0', '"y": y[:, 0, 0]')),
}
"""Other data for a model: the name of the training, and the code."""
BY_BATCH = CODE["masks"][1].replace(
    "keras.ops.mean(", "0 * keras.ops.cast(labels[:, 0, 0], 'float32') + keras.ops.mean(", 1
)
BY_BATCH = BY_BATCH.replace(", axis=(1, 2))", ")")
"""A metric that is another one for an example among others."""


@dataclass(frozen=True)
class Runs:
    """Trained runs and evaluations, by names."""

    trained: dict[str, RunLayout]
    evaluated: dict[str, RunLayout]

    def done(self, name: str) -> EvaluationDone:
        (found,) = (
            each for each in all_events(self.evaluated[name]) if isinstance(each, EvaluationDone)
        )
        return found

    def notes(self, name: str) -> list[str]:
        events = all_events(self.evaluated[name])
        return [each.problem.code for each in events if isinstance(each, ProblemReported)]

    def problems(self, name: str) -> dict[str, str]:
        answer = json.loads((self.evaluated[name].root / "ended.json").read_text())
        found: dict[str, str] = answer.get("problems", {})
        return found


def evaluating(data: PythonData, model: Path, **changes: Any) -> Profile:
    return Profile(
        task="evaluate",
        data=data,
        model=SavedModel(path=str(model), **changes),
        inference=InferenceSettings(batch_size=64),
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Runs:
    code = tmp_path_factory.mktemp("code")
    training = SGD.model_copy(update={"epochs": 2, "learning_rate": 0.02})
    profiles = {name: array_profile(name, code, training) for name in TRAINED}
    plans = {name: (profile, [64]) for name, profile in profiles.items()}
    trained = train_all(tmp_path_factory.mktemp("trained"), with_code(make_run), plans)
    asked: dict[str, tuple[Profile, tuple[int, ...]]] = {}
    for name in TRAINED:
        for shown, shares in SHARES.items():
            profile = evaluating(profiles[name].data, trained[name].model)
            asked[f"{name}: {shown}"] = profile, shares
    for number, (name, (of, text)) in enumerate(OTHERS.items()):
        path = code / f"other-{number}.py"
        path.write_text(text)
        data = profiles[of].data.model_copy(update={"path": str(path)})
        asked[name] = evaluating(data, trained[of].model), (64,)
    for name in OWN:
        for shown, shares in SHARES.items():
            measures = profiles[name].model.path
            profile = evaluating(profiles[name].data, trained[name].model, measures=measures)
            asked[f"{name} by its code: {shown}"] = profile, shares
    for name, of in (("own", "series"), ("masks", "squares"), ("masks", "none")):
        path = code / f"{name}-by-{of}.py"
        path.write_text(CODE[of][1] if of in CODE else BY_BATCH)
        profile = evaluating(profiles[name].data, trained[name].model, measures=str(path))
        asked[f"{name} by {of}"] = profile, (64,)
    scaled = evaluating(profiles["inputs"].data, trained["inputs"].model, inputs="divided_by_255")
    asked["scaled inputs"] = scaled, (64,)
    named = {"class_names": ("a", "b")}
    asked["named tasks"] = (
        evaluating(profiles["tasks"].data, trained["tasks"].model, **named),
        (64,),
    )
    folder, made = tmp_path_factory.mktemp("evaluated"), with_code(make_run)
    # The plan of the first one configures the devices.
    order = sorted(asked, key=lambda name: -len(asked[name][1]))
    layouts = {name: made(folder / str(at), *asked[name]) for at, name in enumerate(order)}
    done = run_forked(
        [sys.executable, str(CHILD), *(str(each.root) for each in layouts.values())],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return Runs(trained, layouts)


def numbers(metrics: Any) -> Mapping[str, float]:
    found: Mapping[str, float] = metrics.model_dump(exclude_none=True)
    return found


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("name", [*EVALUATED, "series"])
def test_that_an_evaluation_measures_what_the_training_did(
    runs: Runs, name: str, shares: str
) -> None:
    assert runs.problems(f"{name}: {shares}") == {}
    found = runs.done(f"{name}: {shares}")

    # Of the examples that the training held out.
    wanted = numbers(last_metrics(runs.trained[name]).of_part("val"))
    assert wanted["loss"] > 0.0
    assert found.which == "validation"
    # A metric of the person's own needs their code.
    wanted = {key: value for key, value in wanted.items() if key != "right"}
    assert (
        numbers(found.metrics).items()
        >= {key: pytest.approx(value, rel=1e-5) for key, value in wanted.items()}.items()
    )
    assert found.of_arrays == (not name.startswith("inputs,") and name != "inputs")


def test_that_any_shares_measure_the_same(runs: Runs) -> None:
    for name in (*EVALUATED, *(f"{each} by its code" for each in OWN)):
        one, other = (numbers(runs.done(f"{name}: {shares}").metrics) for shares in SHARES)
        assert one.keys() == other.keys()
        assert other == pytest.approx(one, rel=1e-6)


def test_that_several_inputs_with_a_class_each_have_all_that_one_input_has(runs: Runs) -> None:
    found = runs.done("inputs: 40 + 20 + 4")

    assert found.class_count == 3
    assert found.confusion_file
    assert found.metrics.f1 is not None


def test_that_metrics_of_ones_own_are_named_as_not_measured(runs: Runs) -> None:
    assert "own_metrics_not_measured" in runs.notes("masks: one device")
    assert "own_metrics_not_measured" not in runs.notes("tasks: one device")
    assert runs.done("masks: one device").metrics.own == {}


@pytest.mark.parametrize("name", ["own", "own tasks"])
def test_that_what_only_a_loss_of_ones_own_knows_is_refused(runs: Runs, name: str) -> None:
    assert runs.problems(f"{name}: one device").keys() == {"model_outputs_not_rows"}


@pytest.mark.parametrize("name", OWN)
def test_that_loss_and_metrics_of_ones_own_are_those_of_the_training(runs: Runs, name: str) -> None:
    assert runs.problems(f"{name} by its code: one device") == {}
    found = runs.done(f"{name} by its code: one device")

    wanted = numbers(last_metrics(runs.trained[name]).of_part("val"))
    assert numbers(found.metrics) == pytest.approx(wanted, rel=1e-5)
    assert "own_metrics_not_measured" not in runs.notes(f"{name} by its code: one device")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own by series", "has no loss, and the model was trained by one"),
        ("masks by squares", "has a loss, and the model was trained without one"),
        ("masks by none", "the number of an example depends on the others"),
    ],
)
def test_that_code_that_does_not_measure_as_the_training_did_is_refused(
    runs: Runs, name: str, words: str
) -> None:
    problems = runs.problems(name)
    assert problems.keys() == {"user_code_loss_misfit"}
    assert words in problems["user_code_loss_misfit"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tasks of other classes", 'its classes of corner are "a", "b", "c"'),
        ("tasks of fewer outputs", "the labels are of mask, spread, corner"),
        ("masks of rows", "the labels are a number or a row"),
        ("other inputs", "but examples have words"),
        ("inputs of masks", "the labels are a number or a row"),
        ("scaled inputs", "model.inputs scales one input"),
        ("named tasks", "model.class_names is of one output"),
    ],
)
def test_that_data_of_another_kind_is_refused_by_name(runs: Runs, name: str, words: str) -> None:
    problems = runs.problems(name)
    assert problems.keys() == {"model_data_misfit"}
    assert words in problems["model_data_misfit"]


def test_that_one_input_is_refused_where_a_model_takes_several(runs: Runs) -> None:
    assert runs.problems("one input").keys() == {"model_not_single"}


@pytest.mark.parametrize("name", ["masks of numbers", "masks of fewer classes"])
def test_that_classes_without_names_are_matched_by_their_numbers(runs: Runs, name: str) -> None:
    assert "classes_matched_by_number" in runs.notes(name)
    found = runs.done(name).metrics
    if name == "masks of numbers":
        same = runs.done("masks: one device").metrics
        assert found.loss == pytest.approx(same.loss, rel=1e-6)


def test_that_the_preview_refuses_what_no_run_can_evaluate(runs: Runs, tmp_path: Path) -> None:
    code = PythonData(path=str(tmp_path / "data.py"), predicts=Target.CLASSES)
    plain = DigitsData()

    def codes(name: str, data: PythonData | DigitsData, **changes: Any) -> set[str]:
        model = SavedModel(path=str(runs.trained[name].model), **changes)
        request = PreviewRequest(data=data, model=model, task="evaluate", example_limit=1, seed=7)
        return {each.code for each in preview(request).model_problems}

    for name in EVALUATED:
        assert codes(name, code) == set()
    assert codes("own", code) == {"model_outputs_not_rows"}
    measured_by = runs.trained["own"].model_code
    assert codes("own", code, measures=str(measured_by)) == set()
    assert codes("own", code, measures=str(tmp_path / "gone.py")) == {"code_missing"}
    assert codes("masks", plain) == {"model_outputs_not_rows"}
    assert "model_not_single" in codes("inputs", plain)
