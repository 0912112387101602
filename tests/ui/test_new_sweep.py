"""A sweep prepared in the window by mouse and keys: settings, values, trials; queued, saved."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QTableView

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.sweep import SweepMethod, SweepSettings, SweptRange
from gpupanel.runs.directory.profile_file import read_profile, read_sweep_profile
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps import bayesian, starting
from gpupanel.runs.sweeps.proposing import propose_sweep
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.bindings.new_sweep_binding import NewSweepBinding
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.inputs.swept_list_edit import SweptListEdit
from gpupanel.ui.widgets.note_card import NoteCard
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = [
    pytest.mark.usefixtures("preview_without_process", "undressed"),
    # Of the offscreen plugin, where a list drops down.
    pytest.mark.qt_log_ignore(
        "This plugin does not support (raise|grabbing the keyboard|propagateSizeHints)"
    ),
]

CPU = 'name = "digits"\n[devices]\nvisible = ["cpu"]\n[strategy]\nkind = "one_device"\n'
SWEEP = (
    '[sweep]\nmethod = "grid"\n[sweep.values]\n"training.learning_rate" = [0.1, 0.01]\n'
    '"model.hidden" = [[64], [128, 64]]\n'
)


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, state_dir, runs_dir, person, monkeypatch):
    monkeypatch.setattr(starting, "ensure_scheduler", lambda files: False)
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(CPU_ONLY)
    yield window
    window.close()


@pytest.fixture
def dialog(qtbot, window):
    window.session.open_profile(parse_profile(CPU), None)
    return opened(qtbot, window)


def opened(qtbot, window) -> NewSweepDialog:
    window.window_actions.new_sweep.trigger()
    dialog = window.findChild(NewSweepDialog)
    qtbot.waitUntil(dialog.isVisible)
    dialog.activateWindow()
    return dialog


def button(dialog, name: str) -> QPushButton:
    return dialog.findChild(QPushButton, f"new_sweep_{name}")


def count(dialog) -> str:
    return dialog.findChild(QLabel, "new_sweep_count").text()


def add(qtbot, dialog, words: str, key: str):
    field = dialog.findChild(QLineEdit, "new_sweep_search")
    field.setFocus()
    QTest.keyClicks(field, words)
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.row(key) is not None and field.text() == "")
    qtbot.wait(1)
    return dialog.row(key)


def typed(row, text: str) -> SweptListEdit:
    field = row.findChild(SweptListEdit)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    return field


def choose(dialog, box: QComboBox, value: str) -> None:
    box.setCurrentIndex(box.findData(value))


def cells(dialog) -> list[list[str]]:
    model = dialog.findChild(QTableView, "new_sweep_trials").model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_that_a_sweep_is_prepared_by_keys_and_queued_as_the_terminal_does(
    qtbot, window, dialog, runs_dir
):
    method = dialog.form.editors()["method"]
    choose(dialog, method, "grid")
    rates = add(qtbot, dialog, "learning r", "training.learning_rate")
    typed(rates, "0.1, 0.01")
    typed(add(qtbot, dialog, "hidden", "model.hidden"), "64; 128, 64")
    qtbot.waitUntil(lambda: count(dialog) == "4 trials")
    assert cells(dialog) == [
        ["1", "0.1", "[64]"],
        ["2", "0.1", "[128, 64]"],
        ["3", "0.01", "[64]"],
        ["4", "0.01", "[128, 64]"],
    ]
    queue = button(dialog, "queue")
    qtbot.waitUntil(queue.isEnabled)
    # The second click of a double click starts no second sweep.
    qtbot.mouseClick(queue, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(queue, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=20_000)
    (folder,) = QueueFiles(queue_dir()).read().sweeps
    assert folder.parent == runs_dir / "sweeps"
    assert [*(runs_dir / "sweeps").iterdir()] == [folder]
    started = read_sweep_profile(SweepLayout(folder).profile)
    assert started.sweep == SweepSettings(
        method=SweepMethod.GRID,
        values={"training.learning_rate": (0.1, 0.01), "model.hidden": ((64,), (128, 64))},
    )
    # It is shown at once, and nothing was written into the session.
    shown = window.findChild(SweepsDialog)
    qtbot.waitUntil(lambda: shown.chosen_sweep() == folder.name)
    assert window.session.profile.sweep is None


def test_that_a_setting_is_found_in_the_list_by_mouse(qtbot, dialog):
    qtbot.mouseClick(button(dialog, "add"), Qt.MouseButton.LeftButton)
    popup = dialog.finder._completer.popup()
    qtbot.waitUntil(popup.isVisible)
    texts = [popup.model().index(n, 0).data() for n in range(popup.model().rowCount())]
    assert len(texts) > 40
    place = texts.index("Learning rate  ·  training.learning_rate")
    index = popup.model().index(place, 0)
    popup.scrollTo(index)
    where = popup.visualRect(index).center()
    qtbot.mouseClick(popup.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.waitUntil(lambda: dialog.row("training.learning_rate") is not None)
    qtbot.waitUntil(lambda: dialog.findChild(QLineEdit, "new_sweep_search").text() == "")
    # It is offered once, and starts with values around the profile's own.
    offered = dialog.finder._model
    again = [offered.index(n, 0).data() for n in range(offered.rowCount())]
    assert again == [text for text in texts if "training.learning_rate" not in text]
    assert dialog.row("training.learning_rate").value() == SweptRange(
        low=0.0001, high=0.01, log=True
    )


def test_that_a_setting_is_found_in_the_list_by_keys(qtbot, dialog):
    field = dialog.findChild(QLineEdit, "new_sweep_search")
    field.setFocus()
    QTest.keyClicks(field, "weight")
    popup = dialog.finder._completer.popup()
    qtbot.waitUntil(popup.isVisible)
    assert popup.model().rowCount() > 1
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Down)
    chosen = popup.currentIndex().data()
    assert popup.currentIndex().row() == 1
    QTest.keyClick(popup, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(dialog.sweep().values) == 1)
    # The one that was chosen, and neither the first one nor two.
    assert [*dialog.sweep().values] == [chosen.partition("  ·  ")[2]]
    qtbot.waitUntil(lambda: field.text() == "")


def test_that_a_number_has_values_or_a_range_with_steps_for_a_grid(qtbot, dialog):
    row = add(qtbot, dialog, "learning rate", "training.learning_rate")
    low, high = row.findChildren(RealSpinBox)
    for field, text in ((low, "0.01"), (high, "1")):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
    assert row.value() == SweptRange(low=0.01, high=1.0, log=True)
    choose(dialog, dialog.form.editors()["method"], "grid")
    assert row.value() == SweptRange(low=0.01, high=1.0, log=True, steps=4)
    qtbot.waitUntil(lambda: count(dialog) == "4 trials")
    choose(dialog, row.findChild(QComboBox), "list")
    assert row.value() == (0.01, 1.0)
    qtbot.waitUntil(lambda: count(dialog) == "2 trials")
    choose(dialog, row.findChild(QComboBox), "range")
    assert row.value() == SweptRange(low=0.01, high=1.0, log=True, steps=2)


def test_that_what_is_wrong_stands_beside_its_field_and_nothing_starts(qtbot, dialog):
    row = add(qtbot, dialog, "epochs", "training.epochs")
    choose(dialog, row.findChild(QComboBox), "list")
    qtbot.waitUntil(button(dialog, "queue").isEnabled)
    field = typed(row, "0, 3")
    qtbot.waitUntil(lambda: "must be a whole number from 1" in row.problem_text())
    assert not button(dialog, "queue").isEnabled()
    field.clear()
    typed(row, "9" * 400)
    assert "is not a number" in row.problem_text()
    assert len(row.problem_text()) < 200
    assert not button(dialog, "queue").isEnabled()
    assert not button(dialog, "save").isEnabled()
    # Escape goes back to the last values, and does not close the dialog.
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert row.error() == ""


def test_that_a_range_outside_the_bounds_says_so_beside_it(qtbot, dialog):
    row = add(qtbot, dialog, "validation", "data.validation_fraction")
    high = row.findChildren(RealSpinBox)[1]
    high.setFocus()
    high.selectAll()
    QTest.keyClicks(high, "5")
    assert "To: “5” is out of range" in row.problem_text()
    assert not button(dialog, "queue").isEnabled()


def test_that_a_grid_of_10000_trials_and_devices_that_are_gone_are_said(qtbot, window, dialog):
    choose(dialog, dialog.form.editors()["method"], "grid")
    dialog.setSweep(
        SweepSettings(
            method=SweepMethod.GRID,
            values={
                key: SweptRange(low=0.1, high=0.9, steps=100)
                for key in ("training.learning_rate", "model.dropout")
            },
        )
    )
    dialog.valueChanged.emit(dialog.sweep())
    qtbot.waitUntil(lambda: dialog.trials.problem_codes() == ["sweep_too_large"])
    assert not button(dialog, "queue").isEnabled()
    window.session.open_profile(parse_profile(CPU.replace('"cpu"', '"GPU-gone"') + SWEEP), None)
    qtbot.waitUntil(lambda: "device_not_found" in dialog.trials.problem_codes())
    assert not button(dialog, "queue").isEnabled()


def test_that_a_problem_of_the_metric_is_beside_it(qtbot, window, dialog):
    text = f'{CPU}[data]\nsource = "digits"\nvalidation_fraction = 0.0\n{SWEEP}'
    window.session.open_profile(parse_profile(text), None)
    qtbot.waitUntil(
        lambda: any("no validation" in note.text() for note in dialog.form.findChildren(QLabel))
    )
    assert not button(dialog, "queue").isEnabled()


def test_that_a_missing_optuna_is_said_beside_the_method(qtbot, dialog, monkeypatch):
    monkeypatch.setattr(bayesian.importlib.util, "find_spec", lambda name: None)
    add(qtbot, dialog, "learning rate", "training.learning_rate")
    choose(dialog, dialog.form.editors()["method"], "bayesian")
    qtbot.waitUntil(
        lambda: any("Optuna" in note.text() for note in dialog.form.findChildren(QLabel))
    )
    assert not button(dialog, "queue").isEnabled()


def test_that_a_bayesian_sweep_says_that_values_follow(qtbot, dialog):
    pytest.importorskip("optuna")
    add(qtbot, dialog, "learning rate", "training.learning_rate")
    choose(dialog, dialog.form.editors()["method"], "bayesian")
    qtbot.waitUntil(lambda: count(dialog) == "20 trials")
    texts = [label.text() for label in dialog.trials.findChildren(QLabel) if label.isVisible()]
    assert "Chosen one after the other" in texts


def test_that_how_many_run_at_once_and_the_time_are_said(qtbot, window, dialog, monkeypatch):
    text = '[strategy]\nkind = "one_device"\n[training]\nepochs = 10\n' + SWEEP
    window.session.set_inventory(TWO_UNEQUAL)
    monkeypatch.setattr(type(window.session), "trained_count", property(lambda _: 3_000))
    found = PastSpeed("yesterday", 1_000.0)
    history = type(window.parts[HistoryBinding].worker)
    monkeypatch.setattr(
        history, "find_past_speed", lambda self, *_: self.pastSpeedFound.emit(found)
    )
    window.session.open_profile(parse_profile(text), None)
    words = dialog.findChild(QLabel, "new_sweep_words")
    qtbot.waitUntil(lambda: "2 at once, one on each device." in words.text())
    # 4 trials of 10 epochs of 3,000 examples on two devices.
    qtbot.waitUntil(lambda: "About 1:00 or less" in words.text())
    assert "of yesterday" in words.text()
    # Each of the 4 starts by itself.
    found = PastSpeed("today", 1_000.0, around_s=30.0)
    window.session.edit(window.session.profile.model_copy(update={"name": "again"}))
    qtbot.waitUntil(lambda: "About 2:00 or less" in words.text())


def test_that_a_sweep_is_saved_with_the_profile_and_shown_when_it_is_opened(
    qtbot, window, dialog, person, tmp_path
):
    note = window.findChild(NoteCard, "sweep_note")
    assert not note.isVisible()
    typed(add(qtbot, dialog, "hidden", "model.hidden"), "64; 32")
    person.saves = tmp_path / "swept.toml"
    qtbot.mouseClick(button(dialog, "save"), Qt.MouseButton.LeftButton)
    assert read_profile(person.saves).sweep.values == {"model.hidden": ((64,), (32,))}
    assert not window.session.is_dirty
    dialog.close()
    window.profiles.new()
    assert not note.isVisible()
    assert dialog.sweep() == SweepSettings()
    window.open_target(person.saves)
    assert note.isVisible()
    assert "a sweep of Hidden layers: 20 trials at random" in note.text()
    qtbot.mouseClick(note.findChild(QPushButton, "sweep_note_open"), Qt.MouseButton.LeftButton)
    assert dialog.isVisible()
    assert dialog.sweep().values == {"model.hidden": ((64,), (32,))}
    qtbot.mouseClick(note.findChild(QPushButton, "sweep_note_remove"), Qt.MouseButton.LeftButton)
    assert window.session.profile.sweep is None
    assert not note.isVisible()
    window.session.undo()
    assert note.isVisible()


def test_that_what_is_prepared_stays_while_the_session_changes(qtbot, window, dialog):
    add(qtbot, dialog, "learning rate", "training.learning_rate")
    dialog.close()
    profile = window.session.profile
    training = profile.training.model_copy(update={"learning_rate": 0.5})
    window.session.edit(profile.model_copy(update={"training": training}))
    assert opened(qtbot, window) is dialog
    row = dialog.row("training.learning_rate")
    texts = [label.text() for label in row.findChildren(QLabel)]
    assert any("now 0.5" in text for text in texts)


def test_that_settings_that_are_not_there_can_be_seen_and_removed(qtbot, window, dialog):
    # As of a profile of another version, or of a stranger.
    text = f'{CPU}[sweep.values]\n"{"a" * 400}" = [1]\n"model.filters" = [[1]]\n'
    window.session.open_profile(parse_profile(text), None)
    row = dialog.row("a" * 400)
    qtbot.waitUntil(lambda: "is not a setting" in row.problem_text())
    assert dialog.minimumSizeHint().width() < 900
    for key in ("a" * 400, "model.filters"):
        dialog.row(key).removed.emit()
    assert dialog.sweep().values == {}
    assert not button(dialog, "queue").isEnabled()


def test_that_a_refused_start_says_why_and_can_be_tried_again(
    qtbot, window, dialog, person, runs_dir, monkeypatch
):
    add(qtbot, dialog, "epochs", "training.epochs")
    qtbot.waitUntil(button(dialog, "queue").isEnabled)
    runs_dir.mkdir(exist_ok=True)
    (runs_dir / "sweeps").write_text("in the way")
    qtbot.mouseClick(button(dialog, "queue"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: person.problems != [], timeout=20_000)
    assert person.problems[0][0] == "The sweep was not started."
    assert dialog.isVisible()
    assert button(dialog, "queue").isEnabled()


@pytest.mark.parametrize("trusts", [False, True])
def test_that_code_that_nobody_trusted_is_asked_about_first(
    qtbot, window, dialog, person, tmp_path, trusts
):
    code = tmp_path / "model.py"
    code.write_text("def build_model(features, outputs):\n    return None\n", encoding="utf-8")
    text = f'{CPU}[model]\nsource = "python"\npath = "{code}"\n[sweep.values]\n'
    window.session.open_profile(parse_profile(f'{text}"training.learning_rate" = [0.1]\n'), None)
    qtbot.waitUntil(button(dialog, "queue").isEnabled)
    person.trusts = trusts
    qtbot.mouseClick(button(dialog, "queue"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(person.codes) == 1, timeout=20_000)
    if trusts:
        qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=20_000)
    assert len(QueueFiles(queue_dir()).read().sweeps) == trusts
    assert dialog.isVisible() is not trusts


def test_that_a_window_is_closed_while_trials_are_found_out(qtbot, window, dialog):
    add(qtbot, dialog, "epochs", "training.epochs")
    window.close()
    # Neither a timer nor a thread goes on; whatever was on its way is heard by nobody.
    window.session.prepare_now()
    dialog.valueChanged.emit(dialog.sweep())
    assert not window.parts[NewSweepBinding]._timer.isActive()


def test_that_the_dialog_fits_a_small_screen(qtbot):
    dialog = NewSweepDialog()
    qtbot.addWidget(dialog)
    profile = parse_profile(CPU + SWEEP)
    dialog.setSweep(profile.sweep)
    dialog.setProposal(propose_sweep(profile), "2 at once, one on each device.")
    # 1280x800 at 150 %.
    dialog.resize(853, 533)
    dialog.show()
    assert (dialog.width(), dialog.height()) == (853, 533)
    assert Profile(sweep=profile.sweep) == parse_profile(dump_profile(Profile(sweep=profile.sweep)))


def test_that_metrics_are_called_as_everywhere(dialog):
    metric = dialog.form.editors()["metric"]
    listed = [metric.itemText(place) for place in range(metric.count())]
    assert "Validation loss" in listed
    assert "val_loss" not in listed
