"""A checkpoint that a person asks for while the run goes on."""

import errno

import pytest
from PySide6.QtGui import QAction

from gpupanel.domain.events import CheckpointSaved, Phase, ProblemReported
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.request import Request
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.checkpoint_offer import checkpoint_offer
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from gpupanel.ui.workers import this_machine
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.usefixtures("undressed")

SAVED = CheckpointSaved(time_s=12.0, path="checkpoints/step-4", epoch=1, step=4, seconds=0.1)
NOT_SAVED = ProblemReported(
    time_s=12.0,
    problem=Problem(
        code="checkpoint_not_saved", severity=Severity.WARNING, message="The disk is full."
    ),
)


@pytest.fixture
def control(qapp, runs_dir):
    session = Session()
    session.set_inventory(CPU_ONLY)
    control = RunControl(session, Launcher(), runs_dir)
    page = LivePage(session, control)
    page.show()
    control.page, control.session = page, session
    yield control
    control.close()
    session.close()
    page.close()
    page.deleteLater()


def action(control) -> QAction:
    return control.page.findChild(QAction, "save_checkpoint")


def follow(qtbot, control, run) -> None:
    control.follow(run.layout)
    run.begin()
    run.step(4)
    qtbot.waitUntil(lambda: action(control).isVisible())


@pytest.mark.parametrize("reported", [SAVED, NOT_SAVED])
def test_that_a_click_asks_for_one_and_waits_until_it_is_reported(
    qtbot, control, runs_dir, reported
):
    with WrittenRun(runs_dir) as run:
        follow(qtbot, control, run)
        action(control).trigger()
        qtbot.waitUntil(lambda: (run.layout.requests / Request.CHECKPOINT).exists())
        assert action(control).text() == "Saving…"
        assert not action(control).isEnabled()
        run.write(reported)
        qtbot.waitUntil(action(control).isEnabled)

        expected = "of step 4" if reported is SAVED else "No checkpoint was saved yet"
        assert expected in action(control).toolTip()
        run.end()
        qtbot.waitUntil(lambda: not action(control).isVisible())


def test_that_one_that_could_not_be_asked_for_can_be_asked_for_again(
    qtbot, control, runs_dir, monkeypatch
):
    def refuse(layout, request):
        raise OSError(errno.EROFS, "Read-only file system")

    with WrittenRun(runs_dir) as run:
        follow(qtbot, control, run)
        monkeypatch.setattr(this_machine, "ask", refuse)
        with qtbot.waitSignal(control.refused):
            action(control).trigger()
        assert not control.is_saving_checkpoint
        qtbot.waitUntil(action(control).isEnabled)
        run.end()


def test_that_only_the_run_that_goes_on_saves_one(qtbot, control, runs_dir):
    with WrittenRun(runs_dir) as before:
        before.begin()
        before.step(2)
        before.end()
    with WrittenRun(runs_dir) as run:
        follow(qtbot, control, run)
        with qtbot.waitSignal(control.shownChanged):
            control.open(before.layout)
        qtbot.waitUntil(lambda: not action(control).isVisible())
        run.end()


def test_that_a_run_that_ended_is_asked_for_nothing(qtbot, control, runs_dir):
    with WrittenRun(runs_dir) as run:
        follow(qtbot, control, run)
        run.end()
        qtbot.waitUntil(lambda: control.active is None)
    control.save_checkpoint()

    assert not control.is_saving_checkpoint
    assert not (run.layout.requests / Request.CHECKPOINT).exists()


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (RunState.STARTING, RunStatus()),
        (RunState.STOPPING, RunStatus()),
        (RunState.RUNNING, RunStatus(phase=Phase.EVALUATING)),
        (RunState.RUNNING, None),
    ],
)
def test_that_none_is_offered_where_nothing_trains(run, status):
    assert checkpoint_offer(run, status, is_saving=False) is None
