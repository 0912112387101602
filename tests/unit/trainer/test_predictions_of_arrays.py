"""Models of several inputs and outputs, and of arrays, predict what plain Keras does."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.events import PredictionsSaved
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.inference.written_predictions import read_predictions
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked
from tests.unit.trainer.array_code import CODE, array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, SGD, all_events, train_all

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

CHILD = Path(__file__).with_name("infer_arrays.py")
READER = Path(__file__).with_name("exports") / "read_exports.py"
PREDICTED = ("inputs to tasks", "inputs", "masks", "pixels one by one", "own", "own tasks", "rows")
SHARES = {"one device": (64,), "40 + 20 + 4": (40, 20, 4)}


@dataclass(frozen=True)
class Runs:
    """Predictions by names, and what plain Keras gives."""

    predicted: dict[str, RunLayout]
    expected: Path
    model: Path

    def predictions(self, name: str) -> dict[str, np.ndarray]:
        with np.load(self.predicted[name].predictions("npz"), allow_pickle=False) as archive:
            return {each: archive[each] for each in archive}

    def keras(self, name: str) -> dict[str, np.ndarray]:
        with np.load(self.expected / f"{name}-read" / "trained.npz") as archive:
            return {each: archive[each] for each in archive}

    def ended(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.predicted[name].root / "ended.json").read_text())
        return found


def all_inputs(name: str) -> dict[str, np.ndarray]:
    """Of all examples, in the order of the data."""
    scope: dict[str, Any] = {}
    exec(CODE[name][0], scope)
    found = scope["load"]()
    found = found if isinstance(found, dict) else dict(zip("xy", found, strict=True))
    parts = [found[part] for part in ("x", "x_test") if part in found]
    parts = [part if isinstance(part, dict) else {"only": part} for part in parts]
    return {
        each: np.concatenate(
            [np.stack([part[each][row] for row in range(len(part[each]))]) for part in parts]
        )
        for each in parts[0]
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Runs:
    code, folder = tmp_path_factory.mktemp("code"), tmp_path_factory.mktemp("predicted")
    training = SGD.model_copy(update={"epochs": 2, "learning_rate": 0.02})
    profiles = {name: array_profile(name, code, training) for name in PREDICTED}
    plans = {name: (profile, [64]) for name, profile in profiles.items()}
    trained = train_all(tmp_path_factory.mktemp("trained"), with_code(make_run), plans)
    asked: dict[str, tuple[Profile, tuple[int, ...]]] = {}

    def ask(name: str, of: str, shares: tuple[int, ...] = (64,), **changes: Any) -> None:
        said = {"data": profiles[of].data, "inference": InferenceSettings(batch_size=64), **changes}
        model = SavedModel(path=str(trained[of].model))
        asked[name] = Profile(task="predict", model=model, **said), shares

    for name in PREDICTED:
        for shown, shares in SHARES.items():
            ask(f"{name}: {shown}", name, shares)
    scenes = all_inputs("masks")["only"]
    np.savez(code / "scenes.npz", x=scenes[:50])
    np.savez(code / "others.npz", x=scenes[:50, :7])
    ask("scenes in a file", "masks", data=NpzData(path=str(code / "scenes.npz"), features="x"))
    ask("other shapes", "masks", data=NpzData(path=str(code / "others.npz"), features="x"))
    ask("a table", "masks", inference=InferenceSettings(output="csv"))
    ask("several inputs of one", "inputs", data=profiles["masks"].data)
    ask("stopped", "masks", (1,))
    made = with_code(make_run)
    order = sorted(asked, key=lambda name: -len(asked[name][1]))
    layouts = {name: made(folder / str(at), *asked[name]) for at, name in enumerate(order)}
    (layouts["stopped"].requests / Request.STOP).touch()
    done = run_forked(
        [sys.executable, str(CHILD), *(str(each.root) for each in layouts.values())],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    expected = tmp_path_factory.mktemp("expected")
    for name in PREDICTED:
        np.savez(expected / f"{name}.npz", **all_inputs(name))
        (expected / f"{name}-trained.keras").write_bytes(trained[name].model.read_bytes())
    read = subprocess.run(
        [sys.executable, str(READER), str(expected)],
        env=CHILD_ENVIRONMENT,
        cwd=expected,
        capture_output=True,
        text=True,
    )
    assert read.returncode == 0, read.stderr[-4000:]
    return Runs(layouts, expected, trained["masks"].model)


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("name", [each for each in PREDICTED if each != "inputs"])
def test_that_predictions_are_the_arrays_that_keras_gives(
    runs: Runs, name: str, shares: str
) -> None:
    found, wanted = runs.predictions(f"{name}: {shares}"), runs.keras(name)

    assert found.pop("index").tolist() == list(range(300))
    names = found.pop("output_names").tolist()
    assert sorted(found) == sorted(names)
    assert len(names) == len(wanted)
    for output, array in found.items():
        expected = wanted.get(output, wanted.get("only"))
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shares", SHARES)
def test_that_several_inputs_with_a_class_each_are_predicted_as_one_input_is(
    runs: Runs, shares: str
) -> None:
    found = runs.predictions(f"inputs: {shares}")

    np.testing.assert_allclose(found["probabilities"], runs.keras("inputs")["only"], atol=1e-5)
    assert found["class_names"].tolist() == ["0", "1", "2"]


def test_that_examples_in_a_file_without_labels_are_predicted(runs: Runs) -> None:
    found = runs.predictions("scenes in a file")

    (name,) = found["output_names"].tolist()
    np.testing.assert_allclose(found[name], runs.keras("masks")["only"][:50], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("other shapes", "model_input_does_not_fit"),
        ("a table", "predictions_no_table"),
        ("several inputs of one", "labels_are_arrays"),
    ],
)
def test_that_what_cannot_be_predicted_is_refused_by_name(runs: Runs, name: str, code: str) -> None:
    assert runs.ended(name)["problems"].keys() == {code}
    assert not runs.predicted[name].predictions("npz").exists()


def test_that_a_stop_leaves_nothing_half_written(runs: Runs) -> None:
    assert runs.ended("stopped")["ended"] == "STOP"
    left = {each.name for each in runs.predicted["stopped"].root.iterdir()}
    assert not [each for each in left if "predictions" in each]


def test_that_a_run_says_where_its_predictions_are(runs: Runs) -> None:
    events = all_events(runs.predicted["masks: one device"])
    (saved,) = (each for each in events if isinstance(each, PredictionsSaved))
    assert (saved.path, saved.examples) == ("predictions.npz", 300)
    left = {each.name for each in runs.predicted["masks: one device"].root.iterdir()}
    assert not [each for each in left if "partial" in each]


def test_that_some_predictions_are_shown_in_words(runs: Runs) -> None:
    path = runs.predicted["inputs to tasks: one device"].predictions("npz")
    shown = read_predictions(path, 298, 50)

    assert (shown.total, [each.index for each in shown.examples]) == (300, [298, 299])
    (words,) = (each.name for each in shown.examples[1].predicted)
    spread = float(runs.keras("inputs to tasks")["spread"][299, 0])
    assert "mask 8x8x3 numbers from " in words
    assert float(words.rpartition("spread ")[2]) == pytest.approx(spread, rel=1e-2)


def test_that_the_preview_refuses_a_table_of_arrays(runs: Runs) -> None:
    def codes(output: str) -> set[str]:
        request = PreviewRequest(
            data=NpzData(path=str(runs.expected / "masks.npz"), features="only"),
            model=SavedModel(path=str(runs.model)),
            task="predict",
            inference=InferenceSettings(output=output),
            example_limit=1,
            seed=7,
        )
        return {each.code for each in preview(request).model_problems}

    assert codes("csv") == {"predictions_no_table"}
    assert codes("automatic") == set()
