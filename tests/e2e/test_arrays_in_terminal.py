"""A model of one's own with several inputs and outputs, from its training to its predictions."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.forked.processes import run_forked
from tests.forked.terminal import answered, gpupanel
from tests.unit.trainer.array_code import CODE

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

PROFILE = """
schema_version = 1
name = "{task} tasks"
task = "{task}"
[devices]
visible = ["cpu"]
cpu_replicas = 2
[strategy]
kind = "mirrored"
shares = {shares}
[data]
source = "python"
path = "data.py"
validation_fraction = 0.2
[model]
{model}
[training]
epochs = 2
optimizer = "sgd"
tensorboard = false
[inference]
batch_size = 100
"""
READER = Path(__file__).parents[1] / "unit" / "trainer" / "exports" / "read_exports.py"
SAVED = 'source = "saved"\npath = "tasks.keras"\n'


def test_that_a_model_of_several_outputs_is_trained_evaluated_exported_and_predicts(
    tmp_path: Path,
) -> None:
    data, model, _ = CODE["own tasks"]
    (tmp_path / "data.py").write_text(data)
    (tmp_path / "network.py").write_text(model)

    def profile(task: str, model: str, shares: str = "[70, 30]") -> Path:
        path = tmp_path / f"{task}.toml"
        path.write_text(PROFILE.format(task=task, model=model, shares=shares))
        return path

    own = profile("train", 'source = "python"\npath = "network.py"', '"equal"')
    trained = answered(gpupanel("run", own, "--trust", "--json"))
    run = Path(trained["run"])
    (tmp_path / "tasks.keras").write_bytes((run / "model.keras").read_bytes())

    # Nobody else knows its loss: that is said before anything starts.
    refused = json.loads(gpupanel("check", profile("evaluate", SAVED), "--json").stdout)
    assert "model_outputs_not_rows" in [each["code"] for each in refused["problems"]]
    measured = profile("evaluate", f'{SAVED}measures = "network.py"\n')
    found = answered(gpupanel("run", measured, "--json"))
    assert found["outcome"] == "completed"
    for name in ("loss", "off"):
        assert found["metrics"][name] == pytest.approx(trained["metrics"][f"val_{name}"], rel=1e-5)
    assert found["evaluated"]["examples"] == 60
    # What changes a measure has to be trusted again.
    (tmp_path / "network.py").write_text(f"{model}\n# changed\n")
    assert "code_not_trusted" in gpupanel("run", measured, "--json").stdout
    report = tmp_path / "report.html"
    assert gpupanel("export", found["run"], "-o", report).returncode == 0
    assert ">off<" in report.read_text(encoding="utf-8")

    predicted = answered(gpupanel("run", profile("predict", SAVED), "--json"))
    with np.load(predicted["predictions"]) as archive:
        assert sorted(archive["output_names"].tolist()) == ["corner", "mask", "spread", "tags"]
        assert archive["mask"].shape == (300, 8, 8, 3)
        assert archive["index"].tolist() == list(range(300))
        predictions = {name: archive[name] for name in archive["output_names"]}

    exports = tmp_path / "exports"
    exports.mkdir()
    done = gpupanel("export", run, "-o", exports / "tasks", "--format", "savedmodel")
    assert done.returncode == 0, done.stderr
    scope: dict[str, Any] = {}
    exec(data, scope)
    np.savez(exports / "tasks.npz", only=scope["load"]()["x"])
    read = run_forked([sys.executable, str(READER), str(exports)], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    with np.load(exports / "tasks-read" / "savedmodel.npz") as given:
        for name, array in predictions.items():
            np.testing.assert_allclose(given[name], array, atol=1e-5)


def test_that_a_model_of_several_outputs_is_trained_further(tmp_path: Path) -> None:
    data, model, _ = CODE["inputs to tasks"]
    (tmp_path / "data.py").write_text(data)
    (tmp_path / "network.py").write_text(model)
    profile = tmp_path / "train.toml"

    def trained(model: str) -> dict[str, Any]:
        profile.write_text(PROFILE.format(task="train", model=model, shares="[48, 16]"))
        return answered(gpupanel("run", profile, "--trust", "--json"))

    first = trained('source = "python"\npath = "network.py"')
    (tmp_path / "tasks.keras").write_bytes((Path(first["run"]) / "model.keras").read_bytes())
    checked = json.loads(gpupanel("check", profile, "--json").stdout)
    assert checked["ok"]
    second = trained(SAVED)

    assert second["outcome"] == "completed"
    assert second["metrics"]["val_loss"] < first["metrics"]["val_loss"]
    assert second["metrics"].keys() >= {"val_mask_loss", "val_corner_accuracy", "test_spread_error"}
    profile.write_text(profile.read_text().replace(SAVED, f'{SAVED}head = "new"\n'))
    refused = json.loads(gpupanel("check", profile, "--json").stdout)
    assert "model_not_single" in [each["code"] for each in refused["problems"]]
