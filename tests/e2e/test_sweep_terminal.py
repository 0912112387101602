"""A sweep of real, small trainings, from the terminal to its best trial, its scheduler killed."""

import io
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import h5py
import psutil
import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.waking import scheduler_lives
from tests.patience import PATIENCE_S

PROFILE = """
name = "digits"
[devices]
visible = ["cpu"]
[strategy]
kind = "one_device"
[model]
source = "mlp"
hidden = [16]
[training]
epochs = 1
[sweep]
method = "grid"
metric = "val_accuracy"
[sweep.values]
"training.learning_rate" = [0.000001, 0.01, 0.000002]
"""


def asked(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", "gpupanel", "sweep", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def weights(runs_dir: Path, run: str) -> dict[str, bytes]:
    """The arrays in the weights of a run's model, as they are written."""
    with zipfile.ZipFile(RunLayout(runs_dir / run).model) as archive:
        content = archive.read("model.weights.h5")
    found: dict[str, bytes] = {}
    with h5py.File(io.BytesIO(content)) as file:
        file.visititems(
            lambda name, each: (
                found.update({name: each[()].tobytes()}) if isinstance(each, h5py.Dataset) else None
            )
        )
    return found


def scheduler_of(folder: Path) -> psutil.Process | None:
    """The process that works on the queue in that folder."""
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "gpupanel.runs.scheduling.scheduler" in command and str(folder) in command:
            return process
    return None


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_sweep_finds_its_best_trial_though_its_scheduler_is_killed(
    tmp_path: Path, runs_dir: Path, state_dir: Path
) -> None:
    path = tmp_path / "digits.toml"
    path.write_text(PROFILE, encoding="utf-8")
    started = asked(str(path))
    assert started["trials"] == 3
    end_s, was_killed, status = time.monotonic() + PATIENCE_S, False, asked(started["sweep"])
    while status["state"] == "in progress":
        assert time.monotonic() < end_s, status
        if status["trials"] and not was_killed:
            scheduler = scheduler_of(queue_dir())
            if scheduler is not None:
                scheduler.kill()
                was_killed = True
        time.sleep(0.5)
        status = asked(started["sweep"])
    assert was_killed
    assert status["state"] == "completed"
    assert [trial["state"] for trial in status["trials"]] == ["completed"] * 3
    assert status["best"] == 2
    assert status["trials"][1]["value"] > 0.6
    rates = [
        read_run_profile(RunLayout(runs_dir / trial["run"])).training.learning_rate
        for trial in status["trials"]
    ]
    assert rates == [0.000001, 0.01, 0.000002]
    while scheduler_lives(queue_dir()):
        assert time.monotonic() < end_s
        time.sleep(0.1)


HALVING = """method = "grid"
stopping_rule = "successive_halving"
metric = "val_loss"
"""


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_trial_that_was_paused_has_the_weights_of_one_that_never_was(
    tmp_path: Path, runs_dir: Path, state_dir: Path
) -> None:
    path = tmp_path / "digits.toml"
    text = PROFILE.replace("epochs = 1", "epochs = 4").replace('metric = "val_accuracy"\n', "")
    path.write_text(text.replace('method = "grid"\n', HALVING), encoding="utf-8")
    status = asked(asked(str(path))["sweep"])
    end_s, seen = time.monotonic() + PATIENCE_S, set[str]()
    while status["state"] == "in progress":
        assert time.monotonic() < end_s, status
        time.sleep(0.5)
        status = asked(status["sweep"])
        seen |= {trial["state"] for trial in status["trials"]}
    assert "paused" in seen
    first, best, third = status["trials"]
    assert (best["state"], status["best"]) == ("completed", 2)
    for poor in (first, third):
        assert (poor["state"], poor["pruned_after"]) == ("pruned", 1)
        assert poor["reason"].endswith("of 3 there, of which 1 continued")
        # As where the median stops one: it has a model, and can be resumed by hand.
        assert RunLayout(runs_dir / poor["run"]).model.exists()
    alone = tmp_path / "alone.toml"
    alone.write_text(text.partition("[sweep]")[0] + "learning_rate = 0.01\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "gpupanel", "run", str(alone), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    run = Path(json.loads(done.stdout)["run"]).name
    whole = weights(runs_dir, run)
    assert whole
    assert weights(runs_dir, best["run"]) == whole


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_profile_is_cross_validated(tmp_path: Path, runs_dir: Path, state_dir: Path) -> None:
    path = tmp_path / "digits.toml"
    path.write_text(PROFILE.partition("[sweep]")[0] + "[sweep]\nfolds = 3\n", encoding="utf-8")
    status = asked(asked(str(path))["sweep"])
    end_s = time.monotonic() + PATIENCE_S
    while status["state"] == "in progress":
        assert time.monotonic() < end_s, status
        time.sleep(0.5)
        status = asked(status["sweep"])
    (trial,) = status["trials"]
    assert (trial["state"], trial["measured"], status["best"]) == ("completed", 3, 1)
    # Other examples validate each time.
    assert trial["spread"] > 0.0
    assert [run["values"]["data.fold"] for run in trial["runs"]] == [1, 2, 3]
