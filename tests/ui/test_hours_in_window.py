"""Hours in the window: set for profile and machine, asked about before a start, said afterwards."""

import time
from functools import partial

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QMessageBox, QTabWidget

from gpupanel.domain.events import HoursEnded, RunEnded
from gpupanel.domain.hours import moment_text
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.runs import launcher as launching
from gpupanel.runs import user_queue
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.machine_settings import MACHINE_FILE, WorkHours
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.panels.queue_panel.queue_table import state_text
from gpupanel.ui.questions import HoursChoice, Questions
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.fakes.hours import closed_now, hours_later
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, person, preview_without_process, monkeypatch):
    monkeypatch.setattr(launching, "start_supervisor", lambda *_: None)
    for module in (orders, user_queue):
        monkeypatch.setattr(module, "ensure_scheduler", lambda files: False)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(CPU_ONLY)
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()


@pytest.fixture
def page(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(QDialog, "settings_dialog")
    qtbot.waitUntil(dialog.isVisible)
    dialog.findChild(QTabWidget).setCurrentIndex(1)
    return dialog.machine


def field(page, name) -> QLineEdit:
    return next(each for each in page.findChildren(QLineEdit) if each.accessibleName() == name)


def start(qtbot, window, hours: str) -> None:
    """Press Start with a profile of these hours, and wait until that was decided."""
    session, control = window.session, window.control
    session.edit(Profile(hours=hours))
    qtbot.waitUntil(lambda: session.prepare_now().is_startable)
    with qtbot.waitSignal(control.doubted):
        control.start_known()


def test_that_a_start_outside_of_the_hours_asks_and_a_no_starts_nothing(
    qtbot, window, person, runs_dir
):
    hours = closed_now()
    start(qtbot, window, hours)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.IDLE)

    assert person.closed_hours == [(hours, False)]
    assert not runs_dir.exists() or not any(runs_dir.iterdir())
    assert not QueueFiles(queue_dir()).read().entries


def test_that_it_is_put_into_the_queue_to_wait_for_them(qtbot, window, person):
    person.hours = HoursChoice.QUEUE
    start(qtbot, window, closed_now())

    qtbot.waitUntil(lambda: len(QueueFiles(queue_dir()).read().waiting) == 1)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.IDLE)


def test_that_it_is_started_now_where_the_person_says_so(qtbot, window, person, runs_dir):
    person.hours = HoursChoice.NOW
    with qtbot.waitSignal(window.control.launched) as launched:
        start(qtbot, window, closed_now())

    assert launched.args[0].outside_hours.exists()


def test_that_hours_of_the_machine_are_kept_once_they_are_typed_whole(qtbot, window, page):
    line = field(page, "Hours")
    line.setFocus()
    qtbot.keyClicks(line, "22:00-07")
    qtbot.wait(600)
    assert MACHINE_FILE.read() == MachineSettings()  # 22:00-07 alone would be hours, too
    qtbot.keyClicks(line, ":30")
    qtbot.keyClick(line, Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: MACHINE_FILE.read().hours == "22:00-07:30")
    qtbot.waitUntil(lambda: window.session.prepare_now().hours == ("22:00-07:30",))


def test_that_hours_typed_last_are_kept_when_the_dialog_closes(qtbot, window, page):
    line = field(page, "Hours")
    line.setFocus()
    qtbot.keyClicks(line, "Sat-Sun")
    page.window().close()

    qtbot.waitUntil(lambda: MACHINE_FILE.read().hours == "Sat-Sun")


def test_that_what_is_no_hours_is_said_below_and_not_kept(qtbot, window, page):
    line = field(page, "Hours")
    line.setFocus()
    qtbot.keyClicks(line, "at night")
    qtbot.keyClick(line, Qt.Key.Key_Return)

    words = [label.text() for label in page.findChildren(QLabel) if not label.isHidden()]
    assert any("“at night” is no span of hours" in each for each in words)
    assert MACHINE_FILE.read() == MachineSettings()


def test_that_a_file_that_cannot_be_read_keeps_a_run_from_starting(qtbot, window):
    MACHINE_FILE.write(MachineSettings())
    MACHINE_FILE.path().write_text("hours = 7")
    window.session.open_profile(Profile(), None)

    qtbot.waitUntil(
        lambda: (
            "machine_settings_unreadable"
            in {each.code for each in window.session.prepare_now().problems}
        )
    )
    assert not window.session.prepare_now().is_startable


def test_that_the_plan_says_when_it_is_suspended_unless_it_has_ended_by_then():
    now = time.time()
    open_now = hours_later(-1, 2)
    begin, _, end = open_now.partition("-")
    work = WorkHours.of(open_now)

    words = plan_text.hours(work, "train", now)
    assert words.startswith(f"Its hours ({begin}-{end}) end at {end}: if it has not ended by then")
    assert f"it is suspended, and continues at {begin}" in words
    assert plan_text.hours(work, "train", now, takes_s=3600.0) == ""
    assert plan_text.hours(work, "train", now, takes_s=3 * 3600.0) == words
    assert plan_text.hours(work, "evaluate", now) == ""
    assert "it is asked to suspend" in plan_text.hours(work, "script", now)
    assert plan_text.hours(WorkHours.of(), "train", now) == ""
    closed = WorkHours.of(closed_now())
    begins = f"Its hours begin at {moment_text(closed.opens_s(now), now)}."
    asks = "Start asks whether it is to wait for them."
    assert plan_text.hours(closed, "predict", now) == f"{begins} {asks}"
    assert plan_text.hours(closed, "train", now).startswith(f"{begins} Its hours (")
    assert plan_text.hours(closed, "train", now, takes_s=3600.0) == f"{begins} {asks}"


@pytest.mark.parametrize(
    ("button", "choice"),
    [
        ("Start at 22:00", HoursChoice.QUEUE),
        ("Start &now", HoursChoice.NOW),
        ("Cancel", HoursChoice.CANCEL),
    ],
)
def test_that_the_question_has_a_button_for_each_way(qtbot, window, button, choice):
    def press() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        assert "22:00-07:00" in box.informativeText()
        (found,) = (
            each
            for each in box.buttons()
            if each.text().replace("&", "") == button.replace("&", "")
        )
        found.click()

    from PySide6.QtCore import QTimer

    QTimer.singleShot(50, press)
    assert Questions(window).about_hours("22:00-07:00", "22:00", resumes=False) is choice


def test_that_the_queue_says_until_when_an_entry_waits_or_is_suspended(runs_dir):
    soon = time.time() + 3600.0
    entry = QueueEntry(id="0" * 8, name="x", runs_dir=runs_dir, added_s=0.0, begin_s=soon)
    continued = entry.model_copy(update={"continues_from": 5, "run": runs_dir / "x"})
    at = moment_text(soon, time.time())

    assert state_text(entry) == f"Waiting until {at}"
    assert state_text(continued) == f"Suspended until {at}"
    assert state_text(continued.model_copy(update={"begin_s": None})) == "Suspended"


def test_that_the_page_of_a_run_says_until_when_it_is_suspended_while_the_queue_has_it(
    qtbot, window, runs_dir
):
    with WrittenRun(runs_dir, Profile(name="night")) as run:
        run.begin()
        run.step(5)
        soon = time.time() + 3600.0
        run.write(HoursEnded(time_s=soon, hours="22:00-07:00", begin_s=soon))
        run.write(RunEnded(time_s=soon, outcome=Outcome.SUSPENDED))
    window.open_target(run.layout.root)
    words = window.live_page.words
    banner_labels = partial(window.live_page.banner.findChildren, QLabel)
    entry = QueueEntry(
        id="0" * 8,
        name="night",
        runs_dir=runs_dir,
        added_s=0.0,
        run=run.layout.root,
        is_filled=True,
        continues_from=5,
        begin_s=soon,
    )

    def says(text: str) -> bool:
        labels = (label.text().replace("\N{NO-BREAK SPACE}", " ") for label in banner_labels())
        return any(text in each for each in labels)

    qtbot.waitUntil(lambda: says("Suspended"))
    assert not says("Suspended until")
    words.set_queue(WaitingLine(entries=(entry,)))
    assert says(f"Suspended until {moment_text(soon, time.time())}")
    words.set_queue(WaitingLine())
    assert not says("Suspended until")
