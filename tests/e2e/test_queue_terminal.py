"""A queue with real runs: its scheduler is killed, and what waits is started all the same."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives
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


def add(folder: Path, name: str, data: str) -> str:
    path = folder / f"{name}.toml"
    profile = Profile.model_validate(
        {
            "name": name,
            "devices": {"visible": ["cpu"]},
            "data": {"source": "npz", "path": data} if data else {"source": "digits"},
            "training": {"epochs": 1, "tensorboard": False},
        }
    )
    write_profile(path, profile)
    command = [sys.executable, "-m", "gpupanel", "queue", "add", str(path), "--json"]
    added = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return str(json.loads(added.stdout)["entry"]["id"])


def scheduler(files: QueueFiles) -> psutil.Process | None:
    for process in psutil.process_iter():
        try:
            command = process.cmdline()
        except psutil.Error:
            continue
        if command[-2:] == ["gpupanel.runs.scheduling.scheduler", str(files.folder)]:
            return process
    return None


def supervisor(run: Path | None) -> psutil.Process | None:
    """Of a run that has begun; ``None`` before."""
    with suppress(OSError, TypeError, ValueError, psutil.NoSuchProcess):
        first, *_ = RunLayout(run).events.read_text(encoding="utf-8").splitlines()
        return psutil.Process(json.loads(first)["supervisor_pid"])
    return None


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_runs_follow_each_other_though_one_fails_and_the_scheduler_is_killed(
    files: QueueFiles, tmp_path: Path, runs_dir: Path
) -> None:
    orders.pause(files)  # or the first one has ended before the second is there
    failing = add(tmp_path, "no such data", str(tmp_path / "missing.npz"))
    good = add(tmp_path, "digits", "")
    command = [sys.executable, "-m", "gpupanel", "queue", "resume"]
    subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=True)

    def entry(entry_id: str) -> QueueEntry:
        return files.read().entry(entry_id)

    until(lambda: supervisor(entry(failing).run) is not None)
    held = supervisor(entry(failing).run)
    assert held is not None
    held.suspend()  # or the run has ended before the scheduler is killed, and nobody starts another
    until(lambda: entry(failing).is_filled and bool(entry(good).waits))
    assert entry(good).waits.endswith("“no such data” runs on it.")
    killed = scheduler(files)
    assert killed is not None
    killed.kill()
    held.resume()
    # Nobody but the supervisor of the failing run can start another scheduler now.
    until(lambda: entry(good).state is EntryState.ENDED)
    assert entry(failing).outcome is Outcome.FAILED
    assert entry(good).outcome is Outcome.COMPLETED
    assert len([path for path in runs_dir.iterdir() if (path / "profile.toml").exists()]) == 2
    until(lambda: not scheduler_lives(files.folder))
