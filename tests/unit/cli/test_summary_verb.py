"""`gpupanel summary PROFILE`: the layers of its model, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import summary as summary_module
from gpupanel.domain.model import SavedModel, TransformerModel
from gpupanel.domain.model_summary import LayerSummary, ModelSummary, ParameterCounts
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import write_profile

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
    assert text.splitlines()[-1] == "2 layers, 40 parameters, 40 of them not trained: 0.0 MiB."
    status, text = asked(tmp_path, Profile(), "--json")
    assert (status, ModelSummary.model_validate(json.loads(text))) == (0, FOUND)


def test_that_what_keeps_a_model_from_being_built_is_said(tmp_path: Path) -> None:
    status, text = asked(tmp_path, Profile(model=TransformerModel()))
    assert status == 1
    assert "The model transformer takes texts, and digits has none." in text


def test_that_a_model_that_is_not_trained_is_refused(tmp_path: Path) -> None:
    profile = Profile(task="evaluate", model=SavedModel(path="m.keras"))
    status, text = asked(tmp_path, profile, "--json")
    assert status == 2
    assert "summary_without_training" in text
