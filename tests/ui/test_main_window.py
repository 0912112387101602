"""The window as a whole, over runs that the test writes itself."""

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from gpupanel.devices.process_ending import as_it_is_now
from gpupanel.domain.data import NpzData, WineData
from gpupanel.domain.events import ModelSaved, Phase, PhaseChanged, RunRestarted, TrainingResumed
from gpupanel.domain.model import CnnModel, SavedModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.ui import closing
from gpupanel.ui.bindings.confirmations import ProcessActions
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.questions import SaveChoice
from gpupanel.ui.remembered import remembered_folds
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

PUBLIC_NAMES = (
    "device_list",
    "strategy_chooser",
    "dataset_selector",
    "start_button",
    "stop_button",
    "suspend_button",
    "loss_plot",
    "utilization_plot",
    "run_progress",
    "problem_list",
    "profile_open",
    "profile_save",
)


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def settings(tmp_path):
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def opened(qtbot, settings, runs_dir, person):
    """Opens windows, and closes them after the test."""
    windows = []

    def open_window(*, begin=True):
        window = new_window(settings, runs_dir, person)
        qtbot.addWidget(window)
        windows.append(window)
        window.resize(1280, 800)
        with qtbot.waitExposed(window):
            window.show()
        if begin:
            with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
                window.begin()
        return window

    yield open_window
    person.choice = SaveChoice.DISCARD
    for window in windows:
        window.close()


def _text(window, name):
    return window.findChild(QLabel, name).text()


def test_that_the_names_that_scripts_rely_on_are_there(opened):
    window = opened()

    assert [name for name in PUBLIC_NAMES if window.findChild(QWidget, name) is None] == []


def test_that_every_control_has_a_tooltip(opened):
    window = opened()
    kinds = (QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit, QPlainTextEdit)
    controls = [each for each in window.findChildren(QWidget) if isinstance(each, kinds)]

    silent = [
        each.objectName() or type(each).__name__
        for each in controls
        if not _tip(each)
        and not each.objectName().startswith("qt_")
        # What Qt itself puts beside tabs that do not fit.
        and not each.objectName().startswith("Scroll")
    ]
    assert silent == []


def test_that_the_window_fits_1280_by_800(opened):
    window = opened()

    assert window.minimumSizeHint().width() <= 1280
    assert window.minimumSizeHint().height() <= 800
    assert (window.width(), window.height()) == (1280, 800)


def test_that_a_choice_in_a_panel_is_an_edit_and_a_problem_disables_start(qtbot, opened):
    window = opened()
    training = window.session_page.training
    value = training.value().model_copy(update={"global_batch_size": 128})
    training.setValue(value)
    training.valueChanged.emit(value)
    assert window.session.profile.training.global_batch_size == 128
    assert window.findChild(QLabel, "dirty_mark").isVisible()

    devices = Profile().devices.model_copy(update={"visible": ("GPU-gone",)})
    window.session.edit(window.session.profile.model_copy(update={"devices": devices}))
    qtbot.waitUntil(lambda: "problem" in _text(window, "run_state"))

    assert not window.findChild(QPushButton, "start_button").isEnabled()


def test_that_nothing_of_other_data_is_shown_and_nothing_starts_while_new_data_is_read(
    qtbot, opened, monkeypatch
):
    window = opened()
    page = window.session_page
    start = window.findChild(QPushButton, "start_button")
    numbers = page.plan.findChild(QLabel, "plan_epochs")
    qtbot.waitUntil(lambda: start.isEnabled() and numbers.isVisibleTo(page.plan))
    assert "Trains on 1,438 examples" in numbers.text().replace("\u200b", "")
    asked = []
    monkeypatch.setattr(page._loader, "ask", asked.append)

    window.session.edit(window.session.profile.model_copy(update={"data": WineData()}))
    for moment in range(2):
        assert not numbers.isVisibleTo(page.plan)
        assert not start.isEnabled()
        assert page.plan.findChild(QLabel, "plan_summary").text().startswith("Reading the data: ")
        assert window.session.state_text == "Reading the data…"
        window.control.start()
        assert not window.session.run_state.is_busy
        if moment == 0:
            qtbot.waitUntil(lambda: len(asked) == 1)

    page._loader.answered.emit(preview(asked[0]))
    assert start.isEnabled()
    assert "Trains on 178 examples" in numbers.text().replace("\u200b", "")

    # Of the same data all is known, whatever else is chosen.
    training = window.session.profile.training.model_copy(update={"epochs": 9})
    window.session.edit(window.session.profile.model_copy(update={"training": training}))
    assert start.isEnabled()
    assert numbers.isVisibleTo(page.plan)


def test_that_missing_data_is_shown_before_start_and_found_once_it_is_there(
    qtbot, opened, tmp_path
):
    window = opened()
    start = window.findChild(QPushButton, "start_button")
    path = tmp_path / "mine.npz"
    window.session.edit(window.session.profile.model_copy(update={"data": NpzData(path=str(path))}))
    assert not start.isEnabled()  # from the first moment on, while nobody has looked for it
    assert window.session.state_text == "Reading the data…"
    problems = window.session.preparation.problems
    assert "data_file_missing" not in {each.code for each in problems}

    def is_missed() -> bool:
        problems = window.session.preparation.problems
        return "data_file_missing" in {each.code for each in problems}

    qtbot.waitUntil(is_missed, timeout=15_000)
    assert not start.isEnabled()

    labels = np.arange(64, dtype=np.int32) % 2
    np.savez(path, x=np.ones((64, 4), np.float32), y=labels)
    QApplication.instance().applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    qtbot.waitUntil(start.isEnabled, timeout=15_000)


def test_that_a_profile_target_is_opened(opened, tmp_path):
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))
    window = opened()

    window.open_target(tmp_path / "mine.toml")

    assert window.windowTitle().startswith("mine")
    assert not window.session.is_dirty


def test_that_a_program_of_ones_own_is_a_target_too(opened, tmp_path):
    (tmp_path / "train.py").write_text("print('hello')")
    window = opened()

    window.open_target(tmp_path / "train.py")

    assert window.session.profile.script.path == str(tmp_path / "train.py")
    assert window.session.profile.task == "script"


def test_that_what_was_saved_and_where_is_said(opened, person, tmp_path):
    window = opened()
    window.session.edit(window.session.profile.model_copy(update={"name": "first training"}))
    person.saves = tmp_path / "digits.toml"
    title = window.windowTitle()

    window.findChild(QAction, "file_save_as").trigger()

    assert _text(window, "run_detail") == "Saved to digits.toml"
    assert title == "first training[*] — gpupanel"
    assert window.windowTitle() == "first training[*] — digits.toml — gpupanel"
    window.findChild(QAction, "file_new").trigger()
    assert _text(window, "run_detail") == ""  # the new one was not saved


def test_that_a_profile_that_is_begun_is_seen(opened, person, tmp_path):
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))
    window = opened()
    window.tabs.show_live()
    window.findChild(QAction, "file_new").trigger()
    assert window.tabs.currentWidget() is window.session_page

    window.tabs.setCurrentWidget(window.runs)
    person.opens = tmp_path / "mine.toml"
    window.findChild(QAction, "file_open").trigger()
    assert window.session.profile.name == "mine"
    assert window.tabs.currentWidget() is window.session_page


def test_that_settings_of_one_profile_do_not_come_back_in_another(opened):
    window = opened()
    page = window.session_page
    before = Profile(
        name="before",
        data=NpzData(path="/before.npz"),
        model=CnnModel(hidden=(7,), filters=(5,)),
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=3),
    )
    evaluating = before.model_copy(
        update={"task": "evaluate", "model": SavedModel(path="/b.keras")}
    )
    window.session.open_profile(before, None)
    window.session.edit(evaluating)
    window.session.open_profile(Profile(name="after"), None)

    _choose(page.data, "dataset_selector", "npz")
    _choose(page.model, "model_selector", "cnn")
    _choose(page.strategy, "strategy_chooser", StrategyKind.MULTI_WORKER)

    after = window.session.profile
    assert isinstance(after.data, NpzData)
    assert after.data.path == ""
    assert after.model == CnnModel()
    assert after.strategy == StrategySettings(kind=StrategyKind.MULTI_WORKER)
    page.task.valueChanged.emit(page.task.value().model_copy(update={"task": "evaluate"}))
    assert window.session.profile.model == SavedModel()


def test_that_what_was_typed_for_a_kind_comes_back_with_it_in_the_same_profile(opened):
    window = opened()
    page = window.session_page
    data, model = NpzData(path="/before.npz"), CnnModel(hidden=(7,), filters=(5,))
    window.session.open_profile(Profile(data=data, model=model), None)

    for kind, source in (("mlp", "digits"), ("cnn", "npz")):
        _choose(page.data, "dataset_selector", source)
        _choose(page.model, "model_selector", kind)

    assert window.session.profile.data == data
    assert window.session.profile.model == model


def _choose(panel, name, choice):
    box = panel.findChild(QComboBox, name)
    box.setCurrentIndex(box.findData(choice))


def test_that_a_bad_profile_is_refused_with_all_its_problems(opened, person, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text('schema_version = 1\ncolour = "red"\n[training]\nepochs = 0\n', "utf-8")
    window = opened()
    before = window.session.profile

    window.open_target(bad)

    assert len(person.problems[0][1]) == 2
    assert window.session.profile == before


def test_that_a_past_run_target_is_shown_with_its_curves(qtbot, opened, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        run.print("a line of the log\n")
        run.sample(busy_sample(CPU_ONLY, STARTED_S + 1))
        run.end()
    window = opened(begin=False)
    window.open_target(run.layout.root)
    window.begin()

    qtbot.waitUntil(lambda: "Completed" in _banner(window), timeout=5000)
    assert window.tabs.currentWidget() is window.live_page
    # Curves and log wait for the devices, which are listed meanwhile.
    qtbot.waitUntil(lambda: "a line of the log" in window.live_page.log.text(), timeout=30_000)
    qtbot.waitUntil(window.findChild(QPushButton, "start_button").isEnabled, timeout=30_000)
    assert window.session.run_state is RunState.IDLE


def test_that_a_run_that_goes_on_is_followed_at_once(qtbot, opened, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        window = opened()
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=5000)
        assert window.tabs.currentWidget() is window.live_page
        assert _text(window, "run_state") == "● Training"
        run.step(2)
        qtbot.waitUntil(lambda: window.session.run_status.step == 5, timeout=5000)


def test_that_a_failed_run_shows_its_problem(qtbot, opened, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.FAILED, Problem(code="nan", message="The data holds NaN.", hint="Mend it."))
    window = opened()
    window.tabs.setCurrentWidget(window.runs)
    table = window.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=5000)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    problem = window.findChild(QLabel, "run_problem")
    qtbot.waitUntil(problem.isVisible, timeout=5000)

    assert "The data holds NaN." in problem.text()


def test_that_a_profile_can_be_dropped_on_the_window(opened, tmp_path):
    write_profile(tmp_path / "dropped.toml", Profile(name="dropped"))
    window = opened()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "dropped.toml"))])

    window.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )

    assert window.session.profile.name == "dropped"


def test_that_closing_asks_before_changes_are_lost(opened, person):
    window = opened()
    window.session.edit(Profile(name="changed"))
    person.choice = SaveChoice.CANCEL

    assert not window.close()
    assert window.isVisible()
    person.choice = SaveChoice.DISCARD
    assert window.close()


def test_that_a_window_that_the_system_wants_closed_while_it_asks_is_closed(opened, person):
    window = opened()
    window.session.edit(Profile(name="changed"))

    def while_it_asks(name):
        window.closing.close_unasked()
        return SaveChoice.CANCEL  # as a dialog says that is closed

    person.about_changes = while_it_asks
    assert window.close()
    assert window.closing.is_closed
    assert not window.isVisible()


def test_that_what_was_asked_of_a_starting_run_is_passed_on_before_threads_end(opened, monkeypatch):
    window, calls = opened(), []
    monkeypatch.setattr(window.control._launcher, "ask_started", calls.append)
    end_threads_of = closing.end_threads_of
    monkeypatch.setattr(
        closing, "end_threads_of", lambda owner: (calls.append("end"), end_threads_of(owner))
    )
    window.control._asked = Request.STOP

    window.close()

    assert calls == [Request.STOP, "end"]


def test_that_a_recent_profile_that_may_not_be_read_does_not_keep_the_window_from_opening(
    opened, settings, tmp_path, monkeypatch
):
    settings.setValue("profiles/recent", [str(tmp_path / "a.toml")])

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    assert opened().isVisible()


def test_that_problems_can_be_copied_from_their_dialog(qtbot):
    dialog = ProblemDialog(
        "bad.toml was not opened.",
        (
            Problem(code="a", message="One is wrong.", hint="Mend one."),
            Problem(code="b", message="Two is wrong.", detail="line 7"),
        ),
        None,
    )
    qtbot.addWidget(dialog)

    assert dialog.text() == (
        "1. Error: One is wrong.\nMend one.\n(a)\n\n2. Error: Two is wrong.\n(b)\nline 7"
    )


def _banner(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.live_page.banner.findChildren(QLabel))


def _tip(widget: QWidget) -> str:
    """What is shown over the widget: its own tooltip, or that of what it is a part of."""
    part = widget
    while part is not None and not part.toolTip():
        part = part.parentWidget()
    return "" if part is None else part.toolTip()


def test_that_a_run_that_goes_on_again_does_not_show_what_had_ended_it(qtbot, opened, runs_dir):
    killed = Problem(code="killed", message="Worker 1 was killed.")
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.end(Outcome.LOST, killed)
    run.write(RunRestarted(time_s=STARTED_S + 50, attempt=0))
    with run:
        run.write(
            TrainingResumed(time_s=STARTED_S + 51, path="checkpoints/step-2", epoch=1, step=2),
            PhaseChanged(time_s=STARTED_S + 52, phase=Phase.TRAINING),
        )
        window = opened()
        qtbot.waitUntil(lambda: "Resumed from step 2." in _banner(window), timeout=30_000)
        assert not window.findChild(QLabel, "run_problem").isVisible()
        run.end(Outcome.LOST, killed)
        qtbot.waitUntil(window.findChild(QLabel, "run_problem").isVisible, timeout=30_000)


def test_that_the_model_of_a_run_is_evaluated_with_one_click_and_the_session_stays(
    qtbot, opened, runs_dir, monkeypatch
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.write(ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
        run.end()
    window = opened()
    before = window.session.profile
    started = []
    monkeypatch.setattr(
        window.control, "start_beside", lambda profile, plan: started.append(profile)
    )
    window.open_target(run.layout.root)
    button = window.findChild(QPushButton, "evaluate_button")
    qtbot.waitUntil(button.isEnabled, timeout=30_000)
    window.live_page.tabs.show_page(window.live_page.evaluations)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    (evaluation,) = started
    assert window.tabs.currentWidget() is window.live_page
    assert (evaluation.task, evaluation.name) == ("evaluate", "evaluation of written")
    assert window.session.profile == before
    window.findChild(QPushButton, "predict_in_session_button").click()
    assert window.tabs.currentWidget() is window.session_page
    assert window.session.profile.task == "predict"
    assert window.session.profile.name == "predictions of written"
    assert window.session.profile.model == SavedModel(path=str(run.layout.model))


def test_that_evaluating_does_not_overwrite_the_profile_that_was_open(
    qtbot, opened, runs_dir, tmp_path, person
):
    file = tmp_path / "mine.toml"
    write_profile(file, Profile(name="mine", model=CnnModel(filters=(7,))))
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.write(ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
        run.end()
    window = opened()
    window.open_target(file)
    window.open_target(run.layout.root)
    button = window.findChild(QPushButton, "evaluate_in_session_button")
    qtbot.waitUntil(button.isEnabled, timeout=30_000)
    window.live_page.tabs.show_page(window.live_page.evaluations)
    button.click()
    assert (window.session.path, window.session.is_dirty) == (None, False)
    assert window.session.profile.model == SavedModel(path=str(run.layout.model))
    # What nothing else holds is asked about first.
    window.profiles.open_file(file)
    changed = window.session.profile.model_copy(update={"name": "changed"})
    window.session.edit(changed)
    person.choice = SaveChoice.CANCEL
    button.click()
    assert (window.session.profile, window.session.path) == (changed, file)
    person.choice = SaveChoice.DISCARD
    button.click()
    assert (window.session.profile.task, window.session.path) == ("evaluate", None)


def test_that_devices_are_as_open_as_they_were_left(qtbot, opened):
    first = opened()
    qtbot.waitUntil(lambda: bool(first.devices.findChildren(DeviceCard)))
    card = first.devices.findChildren(DeviceCard)[-1]
    assert card.is_open
    (chevron,) = (
        each
        for each in card.findChildren(QAbstractButton)
        if each.accessibleName().startswith("Fold ")
    )
    QTest.mouseClick(chevron, Qt.MouseButton.LeftButton)
    assert not card.is_open
    first.close()

    second = opened()
    qtbot.waitUntil(lambda: bool(second.devices.findChildren(DeviceCard)))
    assert not second.devices.findChildren(DeviceCard)[-1].is_open


@pytest.mark.parametrize("written", ["no json", "[]", '{"cpu": "perhaps"}'])
def test_that_what_cannot_be_read_of_folds_is_nothing(settings, written):
    settings.setValue("devices/open", written)
    assert remembered_folds(settings) == {}


def test_that_a_process_of_a_device_is_ended_after_the_question(qtbot, opened, person):
    window = opened(begin=False)
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        listed = as_it_is_now(process.pid)
        with qtbot.waitSignal(window.parts[ProcessActions]._ender.asked):
            window.devices.endRequested.emit(listed)
        assert process.wait(timeout=5) == -signal.SIGTERM
    assert person.endings == [(listed, False)]


def test_that_a_closed_window_that_is_taken_apart_reports_no_page(qtbot, opened):
    window = opened(begin=False)
    window.close()
    with qtbot.assertNotEmitted(window.tabs.currentChanged, wait=1):
        # As Qt does while it deletes them, when nobody in Python can answer any more.
        window.tabs.removeTab(0)
