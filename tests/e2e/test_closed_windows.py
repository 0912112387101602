"""Windows that are closed while they are at work: hidden at once, and never aborted."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.locks import lock_in_folder
from tests.fakes.run_directory import WrittenRun

ROOT = Path(__file__).parents[2]
CLOSING_WINDOW = ROOT / "tests" / "fakes" / "closing_window.py"
AT_WORK_S = 6.5
"""Longer than the five seconds after which a closed window destroyed a thread that worked on."""


@pytest.fixture
def run(runs_dir: Path) -> RunLayout:
    """A run that was stopped and can be resumed."""
    path = "checkpoints/step-000000003"
    with WrittenRun(runs_dir) as written:
        written.begin()
        written.step(3)
        written.write(CheckpointSaved(time_s=1.0, path=path, epoch=1, step=3, seconds=0.1))
        (written.layout.root / path).mkdir(parents=True)
        written.end(Outcome.STOPPED)
    return written.layout


class Windows:
    """Closing windows as processes of their own."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        folders = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "STATE")}
        self._environment = {
            **os.environ,
            **folders,
            "HOME": str(home),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": str(ROOT),
        }
        self._open: list[subprocess.Popen[str]] = []

    def open(self, *arguments: object) -> subprocess.Popen[str]:
        window = subprocess.Popen(
            [sys.executable, "-P", str(CLOSING_WINDOW), *map(str, arguments)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._open.append(window)
        return window

    def close(self) -> None:
        for window in self._open:
            window.kill()
            window.communicate()


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[Windows]:
    windows = Windows(tmp_path / "home")
    yield windows
    windows.close()


def hidden_after_s(window: subprocess.Popen[str]) -> float:
    """Waits until the window has said that it is hidden; in how many seconds it was."""
    assert window.stdout is not None
    found = re.match(r"hidden after ([\d.]+) s", line := window.stdout.readline())
    assert found is not None, (line, window.communicate(timeout=30.0), window.returncode)
    return float(found[1])


def end_of(window: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Waits for its end: the exit status, and what it said but for the offscreen plugin's own."""
    _, err = window.communicate(timeout=60.0)
    lines = [line for line in err.splitlines() if "propagateSizeHints" not in line]
    return window.returncode, lines


@pytest.mark.slow
@pytest.mark.alone
def test_that_a_window_closed_while_a_resume_waits_is_gone_at_once_and_the_resume_is_done(
    windows: Windows, run: RunLayout
) -> None:
    with lock_in_folder(run.resume_lock):
        window = windows.open(run.root)
        assert hidden_after_s(window) < 2.0
        begin = time.monotonic()
        another = windows.open()
        assert hidden_after_s(another) < 2.0
        assert another.wait(30.0) == 0
        time.sleep(max(0.0, AT_WORK_S - (time.monotonic() - begin)))
        assert window.poll() is None, "it waits for what was ordered"
        assert not (run.root / "resumed").exists()
    assert end_of(window) == (0, [])
    assert (run.root / "resumed").exists()


def test_that_a_resume_that_is_refused_after_its_window_was_closed_is_reported(
    windows: Windows, run: RunLayout
) -> None:
    with lock_in_folder(run.resume_lock):
        window = windows.open(run.root)
        hidden_after_s(window)
        (run.checkpoints / "step-000000003").rmdir()
    out, _ = window.communicate(timeout=60.0)
    assert "it has saved no checkpoint" in out
    assert window.returncode == 0
    assert not (run.root / "resumed").exists()


def test_that_a_closed_window_that_works_without_end_ends_all_the_same(
    windows: Windows, run: RunLayout
) -> None:
    with lock_in_folder(run.resume_lock):
        window = windows.open(run.root, 500)
        hidden_after_s(window)
        assert end_of(window) == (0, [])
    assert not (run.root / "resumed").exists()


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_that_a_closed_window_that_works_on_can_be_ended_by_a_signal(
    windows: Windows, run: RunLayout, number: signal.Signals
) -> None:
    with lock_in_folder(run.resume_lock):
        window = windows.open(run.root)
        hidden_after_s(window)
        time.sleep(0.3)
        window.send_signal(number)
        assert end_of(window) == (128 + number, [])
