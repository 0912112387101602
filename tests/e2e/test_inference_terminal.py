"""A trained model evaluated and used from the terminal, with the real TensorFlow."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import (
    DataReady,
    ModelReady,
    Phase,
    PhaseChanged,
    ProblemReported,
    decode_event,
)
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.learned_from import content_of
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.models.model_file import trained_on_in
from tests.e2e.test_terminal import gpupanel as new_process
from tests.forked.processes import run_forked
from tests.forked.terminal import answered, gpupanel

pytestmark = pytest.mark.tensorflow

PROFILE = """
schema_version = 1
name = "{task} digits"
task = "{task}"
[devices]
visible = ["cpu"]
cpu_replicas = 2
[strategy]
kind = "mirrored"
shares = {shares}
[data]
source = "digits"
validation_fraction = 0.2
[model]
{model}
[training]
epochs = 3
tensorboard = false
[inference]
batch_size = 100
examples = "validation"
output = "csv"
"""
SAVED = 'source = "saved"\npath = "digits.keras"'


@pytest.mark.long
def test_that_a_trained_model_is_evaluated_and_predicts(tmp_path: Path) -> None:
    def profile(task: str, model: str = SAVED, shares: str = "[75, 25]") -> Path:
        path = tmp_path / f"{task}.toml"
        path.write_text(PROFILE.format(task=task, model=model, shares=shares))
        return path

    trained = answered(gpupanel("run", profile("train", 'source = "mlp"', '"equal"'), "--json"))
    (Path(trained["run"]) / "model.keras").rename(tmp_path / "digits.keras")
    record = trained_on_in(str(tmp_path / "digits.keras"))
    digits = read_data(DigitsData(), Reading(print)).training
    assert record is not None
    assert record.content == content_of(digits.features, len(digits))
    assert record.value_range == (0.0, 16.0)

    # What the training held out is found, whatever a profile of an evaluation says of that.
    evaluate = profile("evaluate")
    text = evaluate.read_text().replace("validation_fraction = 0.2", "validation_fraction = 0")
    evaluate.write_text(text.replace('examples = "validation"', ""))
    completed = new_process("run", evaluate, "--json")

    assert completed.returncode == 0, completed.stderr
    found = answered(completed)
    assert found["outcome"] == "completed"
    assert found["metrics"]["accuracy"] == pytest.approx(trained["metrics"]["val_accuracy"])
    assert found["metrics"]["loss"] == pytest.approx(trained["metrics"]["val_loss"], rel=1e-5)
    confusion = np.asarray(found["confusion"])
    assert (confusion.shape, confusion.sum()) == ((10, 10), 359)
    assert found["class_names"] == [str(digit) for digit in range(10)]
    assert found["evaluated"] == {
        "examples": 359,
        "which": "validation",
        "learned": 0,
        "learned_is_estimate": False,
    }
    assert np.trace(confusion) / 359 == pytest.approx(found["metrics"]["accuracy"])

    layout = RunLayout(Path(found["run"]))
    assert_phases_in_order(layout)
    assert_held_out_is_said(layout, evaluate, found)

    completed = gpupanel("run", profile("predict"))

    assert completed.returncode == 0, completed.stderr
    (predictions,) = Path(trained["run"]).parent.glob("*predict*/predictions.csv")
    assert str(predictions) in completed.stdout.replace("\n", "")
    assert "359 predictions" in completed.stdout
    assert len(predictions.read_text().splitlines()) == 360
    assert "359 of 359 examples" in completed.stderr


def assert_held_out_is_said(layout: RunLayout, profile: Path, found: dict[str, Any]) -> None:
    """Before the run, while it goes on, at its end and in its report."""
    words = "the 359 examples are evaluated that its training held out"
    assert words in " ".join(gpupanel("check", profile).stdout.split())
    told = [decode_event(line) for line in layout.events.read_text().splitlines()]
    problems = [each.problem for each in told if isinstance(each, ProblemReported)]
    assert [each.code for each in problems] == ["evaluates_what_was_held_out"]
    watched = " ".join(gpupanel("watch", layout.root).stdout.split())
    counted = "359 examples that training held out, of which the model learned from none"
    assert f"Evaluated: {counted}." in watched
    report = layout.root.parent / "report.html"
    assert gpupanel("export", layout.root, "-o", report).returncode == 0
    assert f"Of {counted}." in report.read_text()
    # The script evaluates the same ones.
    script = layout.root.parent / "evaluate.py"
    assert gpupanel("export", profile, "-o", script).returncode == 0
    done = run_forked([sys.executable, str(script)], capture_output=True, text=True)
    assert f"accuracy {found['metrics']['accuracy']:.6f}" in done.stdout, done.stderr[-2000:]


def assert_phases_in_order(layout: RunLayout) -> None:
    told = [decode_event(line) for line in layout.events.read_text().splitlines()]
    assert [event.phase for event in told if isinstance(event, PhaseChanged)] == [
        Phase.IMPORTING_TENSORFLOW,
        Phase.CONFIGURING_DEVICES,
        Phase.LOADING_DATA,
        Phase.BUILDING_MODEL,
        Phase.TRACING,
        Phase.EVALUATING,
    ]
    (data,) = (event for event in told if isinstance(event, DataReady))
    assert (data.training_examples, data.validation_examples) == (0, 359)
    (model,) = (event for event in told if isinstance(event, ModelReady))
    assert model.parameters == 64 * 128 + 128 + 128 * 10 + 10
    assert not list(layout.root.glob("*.keras"))
    assert "Traceback" not in layout.trainer_log.read_text()


def test_that_a_model_that_is_missing_is_reported_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "evaluate.toml"
    path.write_text(PROFILE.format(task="evaluate", model=SAVED, shares='"equal"'))

    completed = gpupanel("run", path, "--json")

    assert completed.returncode == 1
    problem = answered(completed)["problem"]
    assert problem["code"] == "model_file_missing"
    assert str(tmp_path / "digits.keras") in problem["message"]
    assert "Traceback" not in completed.stderr


THOUSANDS = """
schema_version = 1
name = "many classes"
task = "{task}"
[devices]
visible = ["cpu"]
[data]
source = "npz"
path = "{data}"
validation_fraction = 0
[model]
{model}
[training]
epochs = 1
global_batch_size = 512
tensorboard = false
"""


def test_that_an_evaluation_of_a_thousand_classes_completes_with_its_matrix(
    tmp_path: Path,
) -> None:
    classes, random = 1_000, np.random.default_rng(0)
    y = np.tile(np.arange(classes), 3)
    np.savez(tmp_path / "data.npz", x=random.random((len(y), 4), np.float32), y=y)

    def run(task: str, model: str) -> tuple[RunLayout, dict[str, Any]]:
        path = tmp_path / f"{task}.toml"
        path.write_text(THOUSANDS.format(task=task, model=model, data=tmp_path / "data.npz"))
        found = answered(gpupanel("run", path, "--json"))
        return RunLayout(Path(found["run"])), found

    trained, _ = run("train", 'source = "mlp"\nhidden = [8]')
    layout, found = run("evaluate", f'source = "saved"\npath = "{trained.model}"')

    assert found["outcome"] == "completed"
    confusion = np.asarray(found["confusion"])
    assert (confusion.shape, confusion.sum()) == ((classes, classes), 3 * classes)
    assert np.trace(confusion) / len(y) == pytest.approx(found["metrics"]["accuracy"])
    assert found["class_names"] == [str(number) for number in range(classes)]
    assert found["confusion_file"] == str(layout.confusion)
    assert layout.confusion.stat().st_mode & 0o077 == 0
    assert max(map(len, layout.events.read_bytes().splitlines())) < 32 * 1024

    told = gpupanel("watch", str(layout.root)).stdout
    assert "50 classes with the lowest F1 of 1,000" in told.replace("\n", " ")
