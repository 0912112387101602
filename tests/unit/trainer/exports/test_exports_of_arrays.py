"""Exports of models with several inputs and outputs, of any shape, give what was trained."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.model_export import ModelExport, ModelExportRequest, ModelFormat
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from tests.forked.processes import run_forked
from tests.unit.trainer.array_code import CODE, array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, SGD, reached, train_all

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

MOST = 1e-5
NAMES = ("inputs to tasks", "inputs", "masks", "pixels", "pixel squares", "own tasks")
FORMATS = tuple(form.value for form in ModelFormat)
EXPORTER, READER = (
    Path(__file__).with_name(f"{name}.py") for name in ("export_arrays", "read_exports")
)
ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


@dataclass(frozen=True)
class Exported:
    """Runs, and what was exported of them.

    Attributes:
        folder: Has all exports.
        runs: By the name of their code.
        profiles: Likewise.
        answers: Of each export, by that name and the format.
    """

    folder: Path
    runs: dict[str, RunLayout]
    profiles: dict[str, Profile]
    answers: dict[tuple[str, str], ModelExport]

    def read(self, name: str, form: str) -> dict[str, np.ndarray]:
        """What a process without gpupanel found that an export gives."""
        with np.load(self.folder / f"{name}-read" / f"{form}.npz") as archive:
            return {each: archive[each] for each in archive}

    def loaded(self, name: str) -> dict[str, Any]:
        """What ``load()`` of its data gives."""
        return loaded_data(name)


def loaded_data(name: str) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(CODE[name][0], scope)
    found = scope["load"]()
    return found if isinstance(found, dict) else dict(zip("xy", found, strict=True))


def output_of(folder: Path, name: str, form: str) -> Path:
    return folder / (name if form == "savedmodel" else f"{name}.{form}")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Exported:
    folder = tmp_path_factory.mktemp("exports")
    code = tmp_path_factory.mktemp("code")
    training = SGD.model_copy(update={"epochs": 2, "learning_rate": 0.02})
    profiles = {name: array_profile(name, code, training) for name in NAMES}
    plans = {name: (profile, [64]) for name, profile in profiles.items()}
    runs = train_all(tmp_path_factory.mktemp("runs"), with_code(make_run), plans)
    asked = {
        (name, form): ModelExportRequest(
            model=str(runs[name].model),
            output=str(output_of(folder, name, form)),
            model_format=ModelFormat(form),
            data=profiles[name].data,
        )
        for name in NAMES
        for form in FORMATS
    }
    done = run_forked(
        [sys.executable, str(EXPORTER)],
        input="\n".join(each.model_dump_json() for each in asked.values()),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers = map(ModelExport.model_validate_json, done.stdout.splitlines())
    for name in NAMES:
        given = loaded_data(name)
        given = given.get("x_test", given["x"])
        inputs = given if isinstance(given, dict) else {"only": given[:60]}
        np.savez(folder / f"{name}.npz", **inputs)
        (folder / f"{name}-trained.keras").write_bytes(runs[name].model.read_bytes())
    # A process of its own, with nothing of the program in it: Keras and TensorFlow alone.
    read = subprocess.run(
        [sys.executable, str(READER), str(folder)],
        env=CHILD_ENVIRONMENT,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert read.returncode == 0, read.stderr[-4000:]
    return Exported(folder, runs, profiles, dict(zip(asked, answers, strict=True)))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_that_an_export_gives_what_the_trained_model_does(
    exported: Exported, name: str, form: str
) -> None:
    answer = exported.answers[name, form]
    assert answer.problems == ()
    assert answer.largest_difference is not None
    assert answer.largest_difference < MOST
    trained, found = exported.read(name, "trained"), exported.read(name, form)

    assert sorted(found) == sorted(trained)
    for output, wanted in trained.items():
        np.testing.assert_allclose(found[output], wanted, rtol=0.0, atol=MOST)
        assert np.ptp(wanted) > 100 * MOST


@pytest.mark.parametrize("form", FORMATS)
def test_that_what_an_export_gives_is_what_the_training_measured(
    exported: Exported, form: str
) -> None:
    name = "inputs to tasks"
    found, labels = exported.read(name, form), loaded_data(name)["y_test"]
    measured = reached(exported.runs[name]).own

    corner = found["corner"][np.arange(60), labels["corner"]]
    mask = np.take_along_axis(found["mask"], labels["mask"][..., None], axis=-1)
    errors = np.abs(found["spread"][:, 0] - labels["spread"])
    assert {
        "test_corner_loss": pytest.approx(-np.log(corner).mean(), rel=1e-4),
        "test_mask_loss": pytest.approx(-np.log(mask).mean(), rel=1e-4),
        "test_spread_error": pytest.approx(errors.mean(), rel=1e-4),
    }.items() <= measured.items()


def test_that_the_inputs_and_outputs_have_the_names_and_shapes_of_a_person(
    exported: Exported,
) -> None:
    said = json.loads((exported.folder / "inputs to tasks.tflite.json").read_text())

    assert said["input"]["kind"] == "inputs"
    assert said["input"]["inputs"] == [
        {"name": "scene", "shape": [8, 8, 1], "dtype": "float32"},
        {"name": "row", "shape": [3], "dtype": "float32"},
    ]
    outputs = {each.pop("name"): each for each in said["output"]["outputs"]}
    assert said["output"]["kind"] == "arrays"
    assert [
        (name, each["kind"], each["numbers"], each["shape"], each["names"])
        for name, each in sorted(outputs.items())
    ] == [
        ("corner", "classes", "probabilities", [3], ["0", "1", "2"]),
        ("mask", "classes", "probabilities", [8, 8, 3], ["low", "mid", "high"]),
        ("spread", "values", "values", [1], []),
    ]


@pytest.mark.parametrize("name", ["pixel squares", "own tasks"])
def test_that_what_only_a_loss_of_ones_own_knows_is_not_said(exported: Exported, name: str) -> None:
    said = json.loads((exported.folder / f"{name}.keras.json").read_text())

    for each in said["output"]["outputs"]:
        assert (each["kind"], each["numbers"], each["names"]) == ("unknown", "unknown", [])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["inputs to tasks", "masks"])
def test_that_predict_py_writes_the_arrays_of_a_model(
    exported: Exported, tmp_path: Path, name: str, form: str
) -> None:
    model = output_of(exported.folder, name, form)
    script = (model if model.is_dir() else exported.folder) / "predict.py"
    with np.load(exported.folder / f"{name}.npz") as archive:
        given = {each: archive[each][:5] for each in archive}
    inputs, written = tmp_path / "given.npz", tmp_path / "out.npz"
    np.savez(inputs, **given)
    if name == "masks":
        inputs = tmp_path / "given.npy"
        np.save(inputs, given["only"])
    command = [sys.executable, str(script), str(inputs), f"--model={model}", f"--output={written}"]
    done = run_forked(command, env=ENVIRONMENT, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr[-2000:]
    lines = [each for each in done.stdout.splitlines() if each.startswith("given")]
    assert len(lines) == 5
    wanted = exported.read(name, "trained")
    with np.load(written) as archive:
        assert len(archive.files) == len(wanted)
        for output in archive.files:
            of = wanted[output] if output in wanted else wanted["only"]
            np.testing.assert_allclose(archive[output], of[:5], rtol=0.0, atol=MOST)


def test_that_predict_py_prints_arrays_as_lists(exported: Exported, tmp_path: Path) -> None:
    with np.load(exported.folder / "inputs to tasks.npz") as archive:
        one = {each: archive[each][7] for each in archive}
    np.savez(tmp_path / "one.npz", **one)
    model = exported.folder / "inputs to tasks.keras"
    command = [sys.executable, str(exported.folder / "predict.py"), str(tmp_path / "one.npz")]
    done = run_forked(
        [*command, f"--model={model}", "--json"], env=ENVIRONMENT, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr[-2000:]
    (answer,) = json.loads(done.stdout.splitlines()[-1])
    wanted = exported.read("inputs to tasks", "trained")
    assert answer["input"] == "one.npz"
    assert sorted(answer["outputs"]) == sorted(wanted)
    for output, found in answer["outputs"].items():
        np.testing.assert_allclose(found, wanted[output][7], rtol=0.0, atol=MOST)


def test_that_int8_needs_examples_that_only_a_run_may_read(exported: Exported) -> None:
    request = ModelExportRequest(
        model=str(exported.runs["inputs to tasks"].model),
        output=str(exported.folder / "small.tflite"),
        model_format=ModelFormat.TFLITE,
        quantization="int8",
        data=exported.profiles["inputs to tasks"].data,
    )
    done = run_forked(
        [sys.executable, str(EXPORTER)],
        input=request.model_dump_json(),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    answer = ModelExport.model_validate_json(done.stdout)
    assert [each.code for each in answer.problems] == ["export_without_examples"]
    assert not Path(request.output).exists()
