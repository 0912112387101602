"""`gpupanel check PROFILE` builds a model whose activations are to be computed again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.model import ResNetModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile

pytestmark = pytest.mark.tensorflow


def test_that_it_says_why_no_block_ends_after_a_layer(tmp_path: Path) -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",)),
        model=ResNetModel(filters=(4,), blocks=1),
        training=TrainingSettings(recompute=("first_relu", "conv_7")),
    )
    path = tmp_path / "p.toml"
    write_profile(path, profile)
    runs = ["--runs-dir", str(tmp_path / "runs")]

    answer = CliRunner().invoke(app, ["check", str(path), "--json", *runs])

    assert answer.exit_code == 1
    (problem,) = json.loads(answer.output)["problems"]
    assert problem["code"] == "recompute_without_blocks"
    assert "it has no layer conv_7; it divides after" in problem["message"]
    assert "stage_1_block_1_sum" in problem["message"]
