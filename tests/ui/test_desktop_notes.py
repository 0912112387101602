"""Notes of the desktop: when there are any, and that a real bus gets them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.ui.bindings.note_binding import NoteBinding
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.desktop_note import DesktopNotes
from gpupanel.ui.run_state import RunState
from gpupanel.ui.window_settings import WindowSettings
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

REPOSITORY = Path(__file__).parents[2]


class Notes(QObject):
    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str, str]] = []

    def show(self, title: str, text: str) -> None:
        self.shown.append((title, text))

    def stop(self) -> None:
        pass


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()


@pytest.fixture
def notes(window):
    notes = Notes()
    window.parts[NoteBinding].notes.show = notes.show
    return notes


def ended_run(qtbot, window, runs_dir, outcome=Outcome.COMPLETED, problem=None):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        window.begin()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
        run.end(outcome, problem)
        with qtbot.waitSignal(window.control.ended, timeout=10_000):
            pass
    return run


def test_that_the_end_of_a_run_is_noted_while_another_window_is_used(
    qtbot, window, notes, runs_dir, monkeypatch
):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    run = ended_run(qtbot, window, runs_dir)
    ((title, text),) = notes.shown
    assert title == "Run: Completed"
    assert text.startswith(f"{run.layout.name}: Completed")


def test_that_a_failure_is_noted_with_its_reason(qtbot, window, notes, runs_dir, monkeypatch):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    problem = Problem(code="nan", message="The data holds NaN.")
    ended_run(qtbot, window, runs_dir, Outcome.FAILED, problem)
    ((title, text),) = notes.shown
    assert title == "Run: Failed"
    assert text.endswith("The data holds NaN.")


def test_that_nothing_is_noted_while_the_window_is_used(
    qtbot, window, notes, runs_dir, monkeypatch
):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: window)
    ended_run(qtbot, window, runs_dir)
    assert notes.shown == []


def test_that_nothing_is_noted_when_notes_are_switched_off(
    qtbot, window, notes, runs_dir, monkeypatch
):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    window.parts[WindowSettingsBinding].change(WindowSettings(notifications=False))
    ended_run(qtbot, window, runs_dir)
    assert notes.shown == []


def test_that_a_run_that_is_frozen_is_noted_once(qtbot, window, notes, monkeypatch):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    frozen = Problem(code="frozen", message="It has not made a step for 10 minutes.")
    status = type("Status", (), {"stuck": frozen})()
    binding = window.parts[NoteBinding]
    session = type("Session", (), {"run_status": status})()
    binding._session = session
    binding._see_run()
    binding._see_run()
    assert [title for title, _ in notes.shown] == ["Run needs attention"]
    status.stuck = None
    binding._see_run()
    status.stuck = frozen
    binding._see_run()
    assert len(notes.shown) == 2


def test_that_without_a_tray_and_a_bus_nothing_happens(qtbot, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    notes = DesktopNotes()
    notes.show("Run: Completed", "<b>one</b>")
    notes.stop()


_PORTAL = """
from PySide6.QtCore import ClassInfo, QObject, QTimer, Slot
from PySide6.QtDBus import QDBusConnection
from PySide6.QtWidgets import QApplication
from gpupanel.ui.desktop_note import DesktopNotes

application = QApplication([])

@ClassInfo({"D-Bus Interface": "org.freedesktop.portal.Notification"})
class Portal(QObject):
    @Slot(str, "QVariantMap")
    def AddNotification(self, name, note):
        print(name, note["title"], note["body"], sep="|")
        application.quit()

bus = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, "portal")
portal = Portal()
assert bus.registerService("org.freedesktop.portal.Desktop")
every = QDBusConnection.RegisterOption.ExportAllSlots
assert bus.registerObject("/org/freedesktop/portal/desktop", portal, every)
DesktopNotes().show("Run: Completed", "<img src='file:///etc/passwd'> \\x1b[31m")
QTimer.singleShot(60_000, application.quit)
application.exec()
"""


@pytest.mark.skipif(shutil.which("dbus-run-session") is None, reason="needs a D-Bus of its own")
def test_that_the_portal_of_a_desktop_gets_a_note_without_markup():
    command = ["dbus-run-session", "--", sys.executable, "-P", "-c", _PORTAL]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    name, title, body = done.stdout.strip().split("|")
    assert (name, title) == ("gpupanel-run", "Run: Completed")
    assert r"img src='file:///etc/passwd'" in body
    assert body.endswith(r" \x1b[31m")
    assert not {"<", ">"} & set(body)
