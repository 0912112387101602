"""Stop and "Use these settings" in the whole window, by its own buttons."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton, QTableView

from gpupanel.domain.events import CheckpointSaved, ModelSaved, RequestAnswered
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import is_asked
from gpupanel.ui import questions, run_control
from gpupanel.ui.questions import SaveChoice
from gpupanel.ui.run_state import RunState
from gpupanel.ui.widgets.labels import Tone
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, person):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    yield window
    person.choice = SaveChoice.DISCARD
    window.close()


def _follow(qtbot, window, run):
    run.begin()
    run.step(5)
    window.control.follow(run.layout)
    window.tabs.show_live()
    qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
    # Its last steps may still be on their way.
    qtbot.waitUntil(lambda: window.session.run_status.step == 5, timeout=10_000)


def _state(window):
    return window.findChild(QLabel, "run_state").text()


def test_that_a_double_click_on_stop_saves_and_says_so(qtbot, window, person, runs_dir):
    stop = window.findChild(QPushButton, "stop_button")
    with WrittenRun(runs_dir) as run:
        _follow(qtbot, window, run)
        QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
        QTest.mouseDClick(stop, Qt.MouseButton.LeftButton)
        QTest.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda: is_asked(run.layout, Request.STOP), timeout=10_000)
        assert stop.text() == "Stopping…"
        assert person.losses == []
        assert not is_asked(run.layout, Request.END)
        run.write(
            RequestAnswered(time_s=1.0, request=Request.STOP),
            CheckpointSaved(time_s=1.0, path="checkpoints/5", epoch=1, step=5, seconds=0.1),
            ModelSaved(time_s=1.0, path="model.keras"),
        )
        run.end(Outcome.STOPPED)
        qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=10_000)
    assert _state(window) == "● Stopped"
    assert window.session.state_tone is Tone.GOOD
    assert "Stopped: model saved" in window.findChild(QLabel, "shown_state").toolTip()


@pytest.mark.parametrize("is_sure", [False, True])
def test_that_ending_without_saving_is_asked_and_reported_and_is_not_green(
    qtbot, window, person, runs_dir, monkeypatch, is_sure
):
    window.control._after_stop.setInterval(20)
    person.ends_runs = is_sure
    stop, end = (window.findChild(QPushButton, f"{each}_button") for each in ("stop", "end_now"))
    with WrittenRun(runs_dir) as run:
        _follow(qtbot, window, run)
        QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(end.isVisible, timeout=10_000)
        QTest.mouseClick(end, Qt.MouseButton.LeftButton)
        assert person.losses == [
            (
                "It was asked to stop, and saves before it ends. It has saved no checkpoint: its 5 "
                "steps would be lost, and it could not be resumed."
            )
        ]
        state = RunState.KILLING if is_sure else RunState.STOPPING
        assert window.session.run_state is state
        if not is_sure:
            return
        qtbot.waitUntil(lambda: is_asked(run.layout, Request.END), timeout=10_000)
        run.write(RequestAnswered(time_s=1.0, request=Request.END))
        run.end(Outcome.STOPPED)
        qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=10_000)
    assert _state(window) == "● Ended without saving"
    assert window.session.state_tone is Tone.WARNING
    reported = window.findChild(QLabel, "shown_state").toolTip()
    assert "Ended without saving; its 5 steps are lost" in " ".join(reported.split())


def test_that_the_question_keeps_saving_unless_one_says_otherwise(qtbot, window):
    asked = questions.Questions(window)
    answers = []

    def look():
        box = window.findChild(QMessageBox, "ending_run_question")
        answers.append((box.defaultButton().text(), box.escapeButton().text()))
        asked.withdraw_ending_run()

    from PySide6.QtCore import QTimer

    QTimer.singleShot(50, look)
    assert not asked.about_ending_run("digits", "Its 5 steps would be lost.")
    assert answers == [("&Let it save", "&Let it save")]
    assert run_control.END_NOW_AFTER_MS == 2_000


def test_that_the_settings_of_the_shown_run_are_used_with_one_click(
    qtbot, window, person, runs_dir
):
    with WrittenRun(runs_dir, Profile(name="of a run")) as run:
        run.begin()
        run.end()
    use = window.findChild(QAction, "use_settings")
    window.open_target(run.layout.root)
    qtbot.waitUntil(use.isEnabled, timeout=10_000)
    before = run.layout.profile.read_bytes()
    use.trigger()
    assert window.session.profile.name == "of a run"
    assert (window.session.path, window.session.is_dirty) == (None, False)
    assert window.tabs.currentWidget() is window.session_page
    window.session.edit(Profile(name="changed"))
    person.choice = SaveChoice.CANCEL
    window.tabs.show_live()
    use.trigger()
    assert window.session.profile.name == "changed"
    assert window.tabs.currentWidget() is window.live_page
    assert run.layout.profile.read_bytes() == before


def test_that_the_settings_of_the_chosen_run_are_used_with_one_click(qtbot, window, runs_dir):
    with WrittenRun(runs_dir, Profile(name="of a run")) as run:
        run.begin()
        run.end()
    window.tabs.setCurrentWidget(window.runs)
    table = window.runs.panel.findChild(QTableView, "runs_table")
    use = window.runs.panel.findChild(QAction, "runs_use_settings")
    assert not use.isEnabled()
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=10_000)
    table.selectRow(0)
    assert use.isEnabled()
    use.trigger()
    assert (window.session.profile.name, window.session.path) == ("of a run", None)
    assert window.tabs.currentWidget() is window.session_page
