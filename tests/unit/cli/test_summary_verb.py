"""`gpupanel summary PROFILE`: the layers of its model, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import summary as summary_module
from gpupanel.domain.model import SavedModel, TransformerModel
from gpupanel.domain.model_summary import LayerSummary, ModelSummary, ParameterCounts
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import CPU_ONLY

FOUND = ModelSummary(
    layers=(
        LayerSummary(name="[red]conv", kind="Conv2D", output_shape=(8, 8, 4), parameters=40),
        LayerSummary(name="relu", kind="ReLU", output_shape=(8, 8, 4), within="base"),
    ),
    parameters=ParameterCounts(frozen=40),
)


def asked(tmp_path: Path, profile: Profile, *options: str) -> tuple[int, str]:
    path = tmp_path / "p.toml"
    write_profile(path, profile)
    answer = CliRunner().invoke(app, ["summary", str(path), *options], env={"COLUMNS": "200"})
    return answer.exit_code, answer.output


def test_that_layers_are_a_table_and_one_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary_module, "summarize_model", lambda _: FOUND)
    status, text = asked(tmp_path, Profile())
    assert status == 0
    assert [line.split() for line in text.splitlines()[1:3]] == [
        ["[red]conv", "Conv2D", "8", "x", "8", "x", "4", "40", "(frozen)"],
        ["base/relu", "ReLU", "8", "x", "8", "x", "4"],
    ]
    assert text.splitlines()[-1] == "2 layers, 40 parameters, 40 of them not trained: 160 bytes."
    status, text = asked(tmp_path, Profile(), "--json")
    document = json.loads(text)
    assert (document.pop("memory"), document.pop("largest_batch")) == ([], None)
    assert (status, ModelSummary.model_validate(document)) == (0, FOUND)


def test_that_the_memory_of_each_device_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peak = MemoryPeak(fixed_bytes=100 * 2**20, bytes_per_example=2**20)
    step = StepMemory(
        peaks=(peak,), example_bytes=0, weight_bytes=120 * 2**20, trainable_bytes=100 * 2**20
    )
    found = FOUND.model_copy(update={"step": step})
    monkeypatch.setattr(summary_module, "summarize_model", lambda _: found)
    monkeypatch.setattr(summary_module, "read_machine", lambda: Machine(CPU_ONLY))
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    status, text = asked(tmp_path, profile, "--json")
    document = json.loads(text)
    assert status == 0
    assert document["memory"] == [
        {
            "device": "cpu",
            "logical_device": "",
            "examples": 64,
            "weights_mib": 120.0,
            "gradients_mib": 100.0,
            "optimizer_mib": 200.0,
            "activations_mib": pytest.approx(64.0, abs=0.1),
            "data_mib": 0.0,
            "update_mib": 0.0,
            "overhead_mib": 400.0,
            "room_mib": 24_576 - 400,
            "is_limit": False,
            "is_measured": False,
            "counted_mib": pytest.approx(484.0, abs=0.1),
            "total_mib": pytest.approx(884.0, abs=0.1),
        }
    ]
    assert document["largest_batch"] == 1_438  # all digits but the fifth that is held out
    status, text = asked(tmp_path, profile)
    assert status == 0
    assert text.splitlines()[-1] == "Largest global batch that fits: 1,438."
    assert "120.0" in text
    assert "measured" not in text
    measured = step.model_copy(update={"measured": (MeasuredStep(device="cpu", ratio=2.0),)})
    found = FOUND.model_copy(update={"step": measured})
    monkeypatch.setattr(summary_module, "summarize_model", lambda _: found)
    _, text = asked(tmp_path, profile)
    assert "Activations were measured by fit-batch on cpu." in text


def test_that_what_keeps_a_model_from_being_built_is_said(tmp_path: Path) -> None:
    status, text = asked(tmp_path, Profile(model=TransformerModel()))
    assert status == 1
    assert "The model transformer takes texts, and digits has none." in text


def test_that_a_model_that_is_not_trained_is_refused(tmp_path: Path) -> None:
    profile = Profile(task="evaluate", model=SavedModel(path="m.keras"))
    status, text = asked(tmp_path, profile, "--json")
    assert status == 2
    assert "summary_without_training" in text
