"""Launching and steering runs off the GUI thread."""

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import is_asked
from gpupanel.ui.workers.history_worker import RunHistory
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def launcher(qapp):
    launcher = Launcher()
    yield launcher
    launcher.stop()


def test_that_a_folder_that_cannot_be_made_is_a_problem(qtbot, launcher, tmp_path):
    (tmp_path / "file").touch()
    with qtbot.waitSignal(launcher.refused, timeout=5000) as refused:
        launcher.launch(Profile(), prepare(Profile(), CPU_ONLY).plan, tmp_path / "file" / "runs")

    (problem,) = refused.args[0]
    assert problem.message
    assert problem.hint


def test_that_requests_reach_the_runs_folder(qtbot, launcher, runs_dir):
    run = WrittenRun(runs_dir)
    launcher.ask(run.layout, Request.STOP)
    launcher.ask(run.layout, Request.END)

    qtbot.waitUntil(lambda: is_asked(run.layout, Request.END), timeout=5000)
    assert is_asked(run.layout, Request.STOP)


def test_that_a_request_that_cannot_be_written_is_shown(qtbot, launcher, runs_dir):
    run = WrittenRun(runs_dir)
    run.layout.requests.rmdir()
    run.layout.requests.touch()
    with qtbot.waitSignal(launcher.refused, timeout=5000) as refused:
        launcher.ask(run.layout, Request.STOP)

    assert refused.args[0][0].message


def test_that_runs_are_listed_newest_first(qtbot, runs_dir):
    with WrittenRun(runs_dir, Profile(name="one")) as run:
        run.begin()
        run.end()
    history = RunHistory(runs_dir)
    with qtbot.waitSignal(history.listed, timeout=5000) as listed:
        history.refresh()
    history.stop()

    assert [summary.profile_name for summary in listed.args[0]] == ["one"]


def test_that_a_run_without_a_checkpoint_is_not_resumed(qtbot, launcher, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step()
        run.end(Outcome.STOPPED)
    with qtbot.waitSignal(launcher.refused, timeout=5000) as refused:
        launcher.resume(run.layout)

    assert refused.args[0][0].code == "nothing_to_resume"


def test_that_a_run_is_resumed_in_its_own_folder(qtbot, launcher, runs_dir, monkeypatch):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.STOPPED)
    (run.layout.checkpoints / "step-10").mkdir(parents=True)
    monkeypatch.setattr("gpupanel.runs.launcher.start_supervisor", lambda *_: None)
    with qtbot.waitSignal(launcher.launched, timeout=5000) as launched:
        launcher.resume(run.layout)

    assert launched.args == [run.layout]
    assert '"run_restarted"' in run.layout.events.read_text(encoding="utf-8")
