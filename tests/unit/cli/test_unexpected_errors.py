"""No verb ends in a bare traceback, whatever goes wrong in it."""

import errno
import json
import sys
from pathlib import Path

import pytest

from gpupanel.cli import app
from gpupanel.cli.verbs import run as run_verb
from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs import launcher
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.queue import waking
from tests.fakes.run_directory import WrittenRun


def no_more_processes(*_: object) -> None:
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    write_profile(path, Profile(name="mine", devices=DeviceSettings(visible=("cpu",))))
    return path


@pytest.fixture
def stopped(runs_dir: Path) -> Path:
    """A run that can be resumed."""
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(CheckpointSaved(time_s=1.0, path="checkpoints/1", epoch=1, step=1, seconds=0.1))
        run.end(Outcome.STOPPED)
    (run.layout.checkpoints / "1").mkdir(parents=True)
    return run.layout.root


def status_of(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> object:
    """The exit status of the command."""
    monkeypatch.setattr(sys, "argv", ["gpupanel", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        app.main()
    return left.value.code


def test_that_a_run_that_cannot_be_started_is_a_sentence(
    profile: Path,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(launcher, "start_supervisor", no_more_processes)
    assert status_of(monkeypatch, "run", profile, "--json") == 1
    out, err = capsys.readouterr()
    assert "cannot start another process" in " ".join(err.split())
    assert "Traceback" not in err
    assert json.loads(out)["problems"][0]["code"] == "process_not_started"
    assert list(runs_dir.iterdir()) == []


def test_that_a_resume_that_cannot_be_started_is_a_sentence(
    stopped: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launcher, "start_supervisor", no_more_processes)
    assert status_of(monkeypatch, "resume", stopped) == 1
    err = capsys.readouterr().err
    assert "cannot start another process" in " ".join(err.split())
    assert "Traceback" not in err


def test_that_an_entry_that_nobody_supervises_is_a_sentence(
    profile: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waking, "start_detached", no_more_processes)
    assert status_of(monkeypatch, "queue", "add", profile) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert "cannot start another process" in err
    assert "The queue was changed nevertheless" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("what nobody foresaw")])
def test_that_what_nobody_foresaw_is_a_problem_with_its_detail(
    profile: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(run_verb, "launch", fail)
    assert status_of(monkeypatch, "run", profile, "--json") == 1
    out, err = capsys.readouterr()
    assert "An error occurred in gpupanel" in " ".join(err.split())
    (problem,) = json.loads(out)["problems"]
    assert (problem["code"], bool(problem["hint"])) == ("unexpected_error", True)
    assert type(error).__name__ in problem["detail"]
