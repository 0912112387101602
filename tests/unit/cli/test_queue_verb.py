"""The queue in the terminal: what is asked of it, and what it answers."""

import json
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives
from tests.conftest import works_on

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def _paused() -> None:
    """Nothing is started: these tests are about what is asked."""
    assert RUNNER.invoke(app, ["queue", "pause"]).exit_code == 0


def asked(*words: str) -> dict[str, Any]:
    """What the queue answers as JSON."""
    result = RUNNER.invoke(app, ["queue", *words, "--json"])
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def added(tmp_path: Path, name: str) -> str:
    path = tmp_path / f"{name}.toml"
    write_profile(path, Profile(name=name))
    entry: dict[str, Any] = asked("add", str(path), "--runs-dir", str(tmp_path / "runs"))["entry"]
    assert (entry["name"], entry["state"]) == (name, "waiting")
    return str(entry["id"])


def names() -> list[str]:
    return [entry["name"] for entry in asked()["entries"]]


def test_that_what_is_added_waits_in_its_order(tmp_path: Path) -> None:
    added(tmp_path, "first")
    added(tmp_path, "second")

    assert names() == ["first", "second"]
    assert asked()["paused"] is True
    assert not scheduler_lives(queue_dir())


def test_that_entries_are_moved_edited_and_removed(tmp_path: Path) -> None:
    first, second = added(tmp_path, "first"), added(tmp_path, "second")
    asked("move", second, "1")
    assert names() == ["second", "first"]

    other = tmp_path / "other.toml"
    write_profile(other, Profile(name="other"))
    asked("edit", first, str(other))
    assert names() == ["second", "other"]
    assert QueueFiles(queue_dir()).profile(first).name == "other"

    asked("remove", second)
    assert names() == ["other"]


def test_that_the_list_says_what_is_there(tmp_path: Path) -> None:
    assert "No entries" in RUNNER.invoke(app, ["queue"]).stdout
    entry = added(tmp_path, "digits")

    told = RUNNER.invoke(app, ["queue"]).stdout
    assert entry in told
    assert "digits" in told
    assert "Paused" in told


def test_that_what_cannot_be_done_is_reported(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["queue", "remove", "nothing", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"][0]["hint"]
    missing = RUNNER.invoke(app, ["queue", "add", str(tmp_path / "missing.toml"), "--json"])
    assert missing.exit_code == 2


def test_that_a_queue_that_goes_on_again_has_a_scheduler(tmp_path: Path) -> None:
    # Refused by its data, so that nothing is trained.
    path = tmp_path / "refused.toml"
    path.write_text('schema_version = 1\n[devices]\nvisible = ["GPU-of-nobody"]\n')
    asked("add", str(path))
    asked("resume")
    try:
        until_s = time.monotonic() + 30.0
        while (entry := QueueFiles(queue_dir()).read().entries[0]).is_waiting:
            assert time.monotonic() < until_s
            time.sleep(0.1)
        assert entry.state is EntryState.REFUSED
        assert entry.problems
    finally:
        until_s = time.monotonic() + 30.0
        while any(works_on(process, queue_dir()) for process in psutil.process_iter()):
            assert time.monotonic() < until_s
            time.sleep(0.1)
