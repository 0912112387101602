"""End… in a device's list of processes: the question, and the act on a real process."""

import signal
import subprocess
import sys

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from gpupanel.devices.process_ending import as_it_is_now
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.bindings.confirmations import ProcessActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_state import RunState
from tests.fakes.person import Person

STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('ready', flush=True); input()"
)
TRAINING = DeviceProcess(
    pid=4711,
    name="python3",
    user="ana",
    command=f"python3 train.py {'--very-long-option ' * 30}",
    memory_used_mib=4096,
    is_mine=True,
)


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def actions(session, person):
    actions = ProcessActions(session, person, session)
    yield actions
    actions.stop()


@pytest.fixture
def stubborn():
    """A process that does not listen to SIGTERM."""
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_that_a_process_is_asked_first_and_ended_by_force_the_second_time(
    qtbot, actions, person, stubborn
):
    listed = as_it_is_now(stubborn.pid)
    with qtbot.waitSignal(actions._ender.asked):
        actions.end(listed)
    assert stubborn.poll() is None
    with qtbot.waitSignal(actions._ender.asked):
        actions.end(listed)
    assert stubborn.wait(timeout=5) == -signal.SIGKILL
    assert person.endings == [(listed, False), (listed, True)]
    assert person.problems == []


def test_that_nothing_is_ended_when_the_person_does_not_want_it(qtbot, actions, person, stubborn):
    person.ends = False
    with qtbot.assertNotEmitted(actions._ender.asked, wait=200):
        actions.end(as_it_is_now(stubborn.pid))
    person.ends = True
    with qtbot.waitSignal(actions._ender.asked):
        actions.end(as_it_is_now(stubborn.pid))
    assert [by_force for _, by_force in person.endings] == [False, False]


def test_that_a_process_of_the_run_is_refused_with_the_way_to_end_it(
    qtbot, actions, session, person, stubborn
):
    session.set_run(RunState.RUNNING, RunStatus(pids=(stubborn.pid,)))
    with qtbot.waitSignal(actions._ender.refused):
        actions.end(as_it_is_now(stubborn.pid))
    ((_, (problem,)),) = person.problems
    assert problem.code == "process_of_a_run"
    assert "Stop the run" in problem.hint
    assert stubborn.poll() is None


@pytest.mark.parametrize(("button", "ends"), [("&End", True), ("Cancel", False), ("", False)])
def test_that_the_question_names_the_process_and_what_it_holds(qtbot, button, ends):
    window = QWidget()
    qtbot.addWidget(window)
    seen = []

    def answer() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        seen.append(f"{box.text()} {box.informativeText()}")
        if not button:
            box.reject()
            return
        (chosen,) = (each for each in box.buttons() if each.text().endswith(button))
        chosen.click()

    QTimer.singleShot(0, answer)
    assert Questions(window).about_ending(TRAINING, by_force=False) is ends
    for words in ("python3 (process 4711)", "4.0 GiB", "python3 train.py"):
        assert words in seen[0]
    assert seen[0].endswith("…")


def test_that_the_second_question_says_that_nothing_is_saved(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    seen = []

    def answer() -> None:
        box = QApplication.activeModalWidget()
        seen.append(f"{box.text()} {box.informativeText()}")
        box.reject()

    QTimer.singleShot(0, answer)
    assert not Questions(window).about_ending(TRAINING, by_force=True)
    assert "without saving" in seen[0]
    assert "was asked to end and is still there" in seen[0]
