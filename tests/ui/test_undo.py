"""Undo and redo of settings: as a history, and by real keys in the window."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox

from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.edit_history import MOST_STEPS, PAUSE_S, EditHistory, changed_keys
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.session import Session
from tests.fakes.clock import Clock
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def trained(epochs: int, batch: int = 64) -> Profile:
    return Profile(training=TrainingSettings(epochs=epochs, global_batch_size=batch))


def test_that_changed_keys_are_named_as_in_a_profile():
    assert set(changed_keys(trained(3), trained(4, 32))) == {
        "training.epochs",
        "training.global_batch_size",
    }
    keys = set(changed_keys(Profile(), Profile(model=CnnModel())))
    assert "model.source" in keys
    assert set(changed_keys(trained(4), trained(4))) == set()


def test_that_quick_changes_of_one_setting_are_one_step():
    clock = Clock()
    history, session = EditHistory(clock), [trained(1)]
    for epochs in (12, 123):
        history.note(session[-1], trained(epochs))
        session.append(trained(epochs))
        clock.now_s += PAUSE_S / 2
    assert history.undoes == {"training.epochs"}
    assert history.undo(session[-1]) == trained(1)
    assert not history.undoes


def test_that_a_pause_or_another_setting_begins_a_step():
    clock = Clock()
    history = EditHistory(clock)
    history.note(trained(1), trained(2))
    history.note(trained(2), trained(2, 32))
    clock.now_s += PAUSE_S
    history.note(trained(2, 32), trained(2, 16))
    now = trained(2, 16)
    for before in (trained(2, 32), trained(2), trained(1)):
        now = history.undo(now)
        assert now == before
    assert history.undo(now) is None


def test_that_what_was_undone_can_be_done_again_until_something_else_is_changed():
    history = EditHistory(Clock())
    history.note(trained(1), trained(2))
    assert history.undo(trained(2)) == trained(1)
    assert history.redo(trained(1)) == trained(2)
    assert history.undo(trained(2)) == trained(1)
    history.note(trained(1), trained(7))
    assert history.redo(trained(7)) is None
    assert history.undo(trained(7)) == trained(1)


def test_that_the_oldest_steps_are_forgotten():
    clock = Clock()
    history = EditHistory(clock)
    for epochs in range(1, MOST_STEPS + 51):
        clock.now_s += PAUSE_S
        history.note(trained(epochs), trained(epochs + 1))
    now, count = trained(MOST_STEPS + 51), 0
    while (before := history.undo(now)) is not None:
        now, count = before, count + 1
    assert (count, now) == (MOST_STEPS, trained(51))


def test_that_another_profile_has_no_steps_of_the_one_before(qtbot):
    session = Session()
    session.edit(trained(9))
    session.open_profile(trained(5), None)
    session.undo()
    assert session.profile == trained(5)
    assert not session.is_dirty


def test_that_undoing_all_changes_leaves_nothing_to_save(qtbot):
    session = Session()
    session.edit(trained(9))
    session.undo()
    assert not session.is_dirty
    session.redo()
    assert session.profile == trained(9)
    assert session.is_dirty


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, preview_without_process):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    yield window
    window.close()


def named(window, kind, name):
    found = (e for e in window.findChildren(kind) if e.accessibleName() == name)
    return next(each for each in found if each.isVisibleTo(window))


def test_that_keys_undo_and_redo_a_choice(qtbot, window):
    undo = window.window_actions.undo
    assert not undo.isEnabled()
    box = named(window, QComboBox, "Strategy")
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    chosen = window.session.profile.strategy.kind
    assert chosen != Profile().strategy.kind
    assert "strategy.kind" in undo.toolTip()

    qtbot.keyClick(box, Qt.Key.Key_Z, CTRL)
    assert window.session.profile == Profile()
    assert box.currentData() == Profile().strategy.kind
    qtbot.keyClick(box, Qt.Key.Key_Z, CTRL | SHIFT)
    assert window.session.profile.strategy.kind == chosen


def test_that_a_number_that_was_entered_is_undone_with_the_focus_in_its_field(qtbot, window):
    epochs: QSpinBox = named(window, QSpinBox, "Epochs")
    epochs.setFocus()
    epochs.selectAll()
    qtbot.keyClicks(epochs, "37")
    qtbot.keyClick(epochs, Qt.Key.Key_Z, CTRL)
    # It was being typed: the field took it back itself, and the session never had it.
    assert window.session.profile == Profile()
    epochs.selectAll()
    qtbot.keyClicks(epochs, "37")
    qtbot.keyClick(epochs, Qt.Key.Key_Return)
    assert window.session.profile.training.epochs == 37
    qtbot.keyClick(epochs, Qt.Key.Key_Z, CTRL)
    assert window.session.profile == Profile()
    assert epochs.value() == Profile().training.epochs


def test_that_what_is_undone_is_shown(qtbot, window):
    window.session.edit(trained(9))
    window.tabs.setCurrentIndex(2)
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert window.session.profile == Profile()
    assert window.tabs.currentWidget() is window.session_page
    window.session.edit(Profile(name="cats"))
    window.tabs.setCurrentIndex(1)
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert window.tabs.currentWidget() is window.live_page


def test_that_a_rate_is_undone_too(qtbot, window):
    rate: RealSpinBox = named(window, RealSpinBox, "Learning rate")
    rate.setFocus()
    qtbot.keyClick(rate, Qt.Key.Key_Up)
    assert window.session.profile != Profile()
    qtbot.keyClick(rate, Qt.Key.Key_Z, CTRL)
    assert window.session.profile == Profile()


def test_that_text_keeps_its_own_undo_while_it_is_edited(qtbot, window):
    window.session.edit(trained(9))
    name = window.findChild(QLineEdit, "profile_name")
    name.setFocus()
    name.selectAll()
    qtbot.keyClicks(name, "cats")
    qtbot.keyClick(name, Qt.Key.Key_Z, CTRL)
    assert name.text() == Profile().name
    assert window.session.profile == trained(9)
    qtbot.keyClick(name, Qt.Key.Key_Z, CTRL)
    assert window.session.profile == Profile()
