"""Notes of real supervisors, without any window: once each, whoever dies."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.notes import NoteSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.launcher import create_run
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.run_notes import note_end
from gpupanel.runs.processes.run_processes import await_end_of_processes, processes_of
from tests.fakes.devices import CPU_ONLY
from tests.fakes.note_receiver import NoteReceiver
from tests.patience import wait_until

SUPERVISE = Path(__file__).parents[3] / "fakes" / "supervise.py"
SECRET = "a-secret-topic"


@pytest.fixture
def receiver() -> Iterator[NoteReceiver]:
    with NoteReceiver() as receiver:
        NOTES_FILE.write(NoteSettings(webhook=f"{receiver.url}/{SECRET}"))
        yield receiver
        wait_until(lambda: not _helpers())


def _helpers() -> list[psutil.Process]:
    """Couriers, and those who wait for a supervisor's end: they are detached."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or ()
        if any("gpupanel.runs.notes" in word for word in words):
            found.append(process)
    return found


def new_run(runs_dir: Path, name: str = "digits") -> RunLayout:
    profile = Profile(name=name)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return create_run(profile, plan, runs_dir)


def supervised(layout: RunLayout, mode: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, SUPERVISE, mode, layout.root])


def titles(receiver: NoteReceiver) -> list[str]:
    return [request.document["title"].partition(" on ")[0] for request in receiver.received]


@pytest.mark.parametrize(
    ("mode", "title", "kind", "words"),
    [
        ("complete", "digits: completed", "ended", "loss 0.5000, accuracy 0.9000. It took "),
        ("fail", "digits: failed", "failed", "The loss became NaN at step 11."),
        ("kill_itself", "digits: lost", "failed", ""),
    ],
)
def test_that_an_end_is_told_once(
    receiver: NoteReceiver, runs_dir: Path, mode: str, title: str, kind: str, words: str
) -> None:
    layout = new_run(runs_dir)
    supervised(layout, mode).wait()
    wait_until(lambda: bool(receiver.received))
    wait_until(lambda: not _helpers())
    assert titles(receiver) == [title]
    document = receiver.received[0].document
    assert document["kind"] == kind
    assert words in document["text"]
    assert document["run"] == str(layout.root)


def test_that_a_run_whose_supervisor_was_killed_is_told(
    receiver: NoteReceiver, runs_dir: Path
) -> None:
    layout = new_run(runs_dir)
    with supervised(layout, "train_on") as supervisor:
        wait_until(lambda: layout.events.exists() and b"steps_done" in layout.events.read_bytes())
        supervisor.send_signal(signal.SIGKILL)
    for process in processes_of(layout):
        process.kill()
    await_end_of_processes(layout, 10.0)
    wait_until(lambda: bool(receiver.received))
    wait_until(lambda: not _helpers())
    assert titles(receiver) == ["digits: lost"]


def test_that_a_killed_watcher_of_a_supervisor_loses_no_note(
    receiver: NoteReceiver, runs_dir: Path
) -> None:
    layout = new_run(runs_dir)
    with supervised(layout, "wait_for_stop") as supervisor:
        wait_until(lambda: bool(_helpers()))
        for process in _helpers():
            process.kill()
        ask(layout, Request.STOP)
        supervisor.wait()
    wait_until(lambda: bool(receiver.received))
    assert titles(receiver) == ["digits: stopped"]


def test_that_no_secret_is_in_the_run_or_in_a_log(receiver: NoteReceiver, runs_dir: Path) -> None:
    receiver.answers = [404]
    layout = new_run(runs_dir)
    supervised(layout, "complete").wait()
    wait_until(lambda: bool(receiver.received))
    wait_until(lambda: "404" in (notes_dir() / "courier.log").read_text())
    for process in _helpers():
        process.kill()
    places = [*layout.root.rglob("*"), *notes_dir().rglob("*")]
    assert len(places) > 5
    for path in places:
        assert SECRET.encode() not in (path.read_bytes() if path.is_file() else b"")


def test_that_a_run_that_goes_on_has_no_end_to_tell(receiver: NoteReceiver, runs_dir: Path) -> None:
    layout = new_run(runs_dir)
    with supervised(layout, "wait_for_stop") as supervisor:
        wait_until(lambda: layout.events.exists() and b"steps_done" in layout.events.read_bytes())
        assert not note_end(layout)
        assert receiver.received == []
        ask(layout, Request.STOP)
        supervisor.wait()
    wait_until(lambda: bool(receiver.received))


@pytest.mark.slow
def test_that_a_hundred_of_a_hundred_ends_arrive_once(
    receiver: NoteReceiver, runs_dir: Path
) -> None:
    """Every second supervisor, and now and then whoever else works for notes, is killed."""
    for number in range(100):
        layout = new_run(runs_dir, f"run {number}")
        with supervised(layout, "train_on" if number % 2 else "complete") as supervisor:
            if number % 2:
                wait_until(
                    lambda: layout.events.exists() and b"steps_done" in layout.events.read_bytes()  # noqa: B023
                )
                supervisor.send_signal(signal.SIGKILL)
        for process in processes_of(layout):
            process.kill()
    wait_until(lambda: len(set(titles(receiver))) == 100, 120.0)
    wait_until(lambda: not _helpers(), 60.0)
    assert len(receiver.received) == 100
