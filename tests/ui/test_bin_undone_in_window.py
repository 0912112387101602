"""Ctrl+Z in the whole window: on the page of runs it is the bin that is undone."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QTableView

from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, monkeypatch):
    home = tmp_path / "data home"
    home.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    yield window
    window.close()


def test_that_a_run_comes_back_and_no_setting_changes(qtbot, window, runs_dir):
    with WrittenRun(runs_dir, Profile(name="kept")) as run:
        run.begin()
        run.end()
    changed = Profile(training=TrainingSettings(epochs=17))
    window.session.edit(changed)
    window.tabs.setCurrentWidget(window.runs)
    table = window.runs.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=5000)
    table.setFocus()
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not run.layout.root.exists(), timeout=5000)
    undo = window.runs.panel._undo
    qtbot.waitUntil(undo.isVisible, timeout=5000)

    # The table is gone with its only row; the key goes to what has the focus now.
    qtbot.keyClick(
        QApplication.focusWidget() or window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    )

    qtbot.waitUntil(run.layout.root.is_dir, timeout=5000)
    assert window.session.profile.training.epochs == 17
