"""`gpupanel export RUN --format savedmodel|tflite`: what is asked of the exporting process."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gpupanel.cli import exported_model
from gpupanel.cli.app import app
from gpupanel.domain.events import DataReady
from gpupanel.domain.model import SavedModel
from gpupanel.domain.model_export import (
    ModelExport,
    ModelExportRequest,
    ModelFormat,
    Quantization,
)
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.directory.profile_file import write_profile
from tests.fakes.run_directory import WrittenRun

ON_CPU = Profile(name="on the CPU", devices=DeviceSettings(visible=("cpu",)))
FOUND = ModelExport(size_bytes=900, compared=64, of_data=True, largest_difference=1e-7)


def exported(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *(str(argument) for argument in arguments)])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ModelExportRequest]:
    requests: list[ModelExportRequest] = []

    def answer(request: ModelExportRequest) -> ModelExport:
        requests.append(request)
        return FOUND

    monkeypatch.setattr(exported_model, "export_model", answer)
    return requests


def test_that_the_model_of_a_run_is_exported_as_it_is_asked(
    asked: list[ModelExportRequest], runs_dir: Path, tmp_path: Path
) -> None:
    with WrittenRun(runs_dir, ON_CPU) as run:
        run.write(
            DataReady(
                time_s=1.0,
                training_examples=2,
                validation_examples=0,
                feature_shape=(8, 8),
                class_count=2,
                class_names=("cat", "dog"),
                steps_per_epoch=1,
            )
        )
    layout = run.layout
    layout.model.write_bytes(b"a model")
    done = exported(layout.name, "-o", tmp_path / "a.tflite", "--quantize", "int8")
    assert done.exit_code == 0, done.output
    assert "over 64 examples of the data" in " ".join(done.output.split())
    assert "Beside it: a.tflite.json says" in " ".join(done.output.split())
    (request,) = asked
    assert request.model == str(layout.model)
    assert request.quantization is Quantization.INT8
    assert request.data == ON_CPU.data
    assert request.class_names == ("cat", "dog")
    done = exported(layout.name, "-o", tmp_path / "b", "--format", "savedmodel", "--json")
    document = json.loads(done.stdout)
    assert document["savedmodel"] == str(tmp_path / "b")
    assert (document["size_bytes"], document["largest_difference"]) == (900, 1e-7)
    assert exported(layout.name, "-o", tmp_path / "c.keras").exit_code == 0
    assert asked[-1].model_format is ModelFormat.KERAS


def test_that_the_model_of_an_evaluation_is_the_one_that_it_took(
    asked: list[ModelExportRequest], runs_dir: Path, tmp_path: Path
) -> None:
    taken = SavedModel(path="/models/m.keras")
    profile = ON_CPU.model_copy(update={"task": "evaluate", "model": taken})
    layout = WrittenRun(runs_dir, profile).layout
    assert exported(layout.name, "-o", tmp_path / "a.tflite").exit_code == 0
    assert [request.model for request in asked] == ["/models/m.keras"]


def test_that_what_cannot_be_exported_is_a_problem(
    asked: list[ModelExportRequest],
    runs_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout = WrittenRun(runs_dir, ON_CPU).layout
    profile = tmp_path / "p.toml"
    write_profile(profile, ON_CPU)
    cases = {
        "export_needs_run": (profile, "-o", tmp_path / "a.tflite"),
        "export_not_quantized": (layout.name, "-o", tmp_path / "a.py", "--quantize", "int8"),
        "run_without_model": (layout.name, "-o", tmp_path / "b.tflite"),
        "inside_a_run": (layout.name, "-o", layout.model, "--format", "tflite"),
    }
    for code, arguments in cases.items():
        if code == "inside_a_run":
            layout.model.write_bytes(b"a model")
        done = exported(*arguments, "--json")
        assert done.exit_code == 1
        assert [each["code"] for each in json.loads(done.stdout)["problems"]] == [code]
    assert asked == []
    refused = ModelExport(problems=(Problem(code="broken", message="It is broken."),))
    monkeypatch.setattr(exported_model, "export_model", lambda _: refused)
    done = exported(layout.name, "-o", tmp_path / "a.tflite")
    assert done.exit_code == 1
    assert "It is broken." in done.output
