"""A real training whose hours end is suspended, and continued by the queue to the same bits."""

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives
from tests.fakes.hours import closed_now
from tests.patience import PATIENCE_S


@pytest.fixture
def files(state_dir: Path) -> Iterator[QueueFiles]:
    """The queue; what a failed test left of it is ended."""
    files = QueueFiles(queue_dir())
    yield files
    orders.pause(files)
    for entry in files.read().running:
        if entry.run is not None:
            ask(RunLayout(entry.run), Request.END)
    until(lambda: not scheduler_lives(files.folder))


def until(condition: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def gpupanel(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "gpupanel", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=os.environ
    )


def weights(run: Path) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(run / "model.keras") as archive:
        content = io.BytesIO(archive.read("model.weights.h5"))
    found: dict[str, np.ndarray] = {}

    def take(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    h5py.File(content).visititems(take)
    return found


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_single_run_is_suspended_for_its_hours_and_continued_to_the_bit(
    files: QueueFiles, tmp_path: Path, runs_dir: Path
) -> None:
    path = tmp_path / "night.toml"
    profile = Profile.model_validate(
        {
            "name": "night",
            "devices": {"visible": ["cpu"]},
            "training": {"epochs": 60, "tensorboard": False},
        }
    )
    write_profile(path, profile)
    whole = Path(json.loads(gpupanel("run", path, "--json").stdout)["run"])
    run = Path(json.loads(gpupanel("run", path, "--detach", "--json").stdout)["run"])
    events = run / "events.jsonl"
    until(lambda: events.exists() and b'"epoch_done"' in events.read_bytes())
    MACHINE_FILE.write(MachineSettings(hours=closed_now()))

    watched = json.loads(gpupanel("watch", run.name, "--json").stdout)
    assert watched["outcome"] == "suspended"
    assert watched["continues_s"] > time.time()
    assert "suspended until " in gpupanel("watch", run.name).stdout
    until(lambda: any(each.waits for each in files.read().waiting))
    assert "suspended until " in gpupanel("queue").stdout
    refused = gpupanel("run", path)
    assert refused.returncode == 1
    assert "gpupanel queue add PROFILE" in refused.stderr
    assert "--queue" in gpupanel("resume", run.name).stderr
    assert gpupanel("resume", run.name, "--queue").returncode == 0
    assert len(files.read().entries) == 1

    MACHINE_FILE.write(MachineSettings())
    until(lambda: not files.read().waiting and not files.read().running)
    (entry,) = files.read().entries
    assert (entry.run, str(entry.outcome)) == (run, "completed")
    expected, found = weights(whole), weights(run)
    assert expected.keys() == found.keys()
    assert expected
    assert all(np.array_equal(expected[name], found[name]) for name in expected)
