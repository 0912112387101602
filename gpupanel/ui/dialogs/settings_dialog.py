"""The settings of window, machine and notes; what is changed is in force at once, or says when."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gpupanel.runs.locations import RUNS_DIR_VARIABLE
from gpupanel.ui.dialogs.machine_page import MachinePage
from gpupanel.ui.dialogs.notes_page import NotesPage
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.window_settings import WindowSettings, runs_folder, runs_folder_problem
from gpupanel.ui.workers.workplace import workplace


class SettingsDialog(QDialog):
    """A form of :class:`WindowSettings`, and the pages of the machine and of notes.

    Args:
        value: As they are.
        runs_dir: Where this window keeps its runs.
        parent: Stands before it.
    """

    valueChanged = Signal(object)
    """A person changed a setting: the new :class:`WindowSettings`, all of which can be used."""

    def __init__(self, value: WindowSettings, runs_dir: Path, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setWindowTitle("Settings")
        self._runs_dir = runs_dir
        self._used = value
        folder = PathEdit(
            placeholder=str(runs_folder(WindowSettings())), title="Choose the folder of runs"
        )
        self._form = ValueForm(value, inputs={"runs_dir": folder})
        self._note = ProseLabel(tone="muted")
        self._note.setObjectName("settings_note")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        defaults = QPushButton("Restore defau&lts", self)
        defaults.setObjectName("settings_defaults")
        defaults.setToolTip("All settings of the window as they were at first")
        buttons.addButton(defaults, QDialogButtonBox.ButtonRole.ResetRole)
        defaults.clicked.connect(self._restore)
        buttons.rejected.connect(self.reject)
        self._form.valueChanged.connect(self._take)
        own = QWidget()
        page = QVBoxLayout(own)
        page.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        page.setSpacing(2 * GRID)
        page.addWidget(self._form)
        page.addWidget(self._note)
        page.addStretch(1)
        self.machine, self.notes = MachinePage(), NotesPage()
        tabs = QTabWidget()
        tabs.addTab(own, "&Window")
        for of_machine, title in ((self.machine, "&Machine"), (self.notes, "&Notes")):
            # Those of this machine say nothing of a host.
            tabs.setTabVisible(tabs.addTab(of_machine, title), not workplace().host)
        tabs.currentChanged.connect(lambda place: defaults.setVisible(place == 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addWidget(tabs, 1)
        layout.addWidget(buttons)
        resize_within_screen(self, 76 * GRID, 72 * GRID)
        self._show_note(value)

    @Slot(object)
    def _take(self, value: WindowSettings) -> None:
        problem = runs_folder_problem(value.runs_dir)
        self._form.setProblems({} if problem is None else {"runs_dir": problem})
        if problem is not None:
            # What else was changed is used; the folder stays the one that can be.
            value = value.model_copy(update={"runs_dir": self._used.runs_dir})
        self._show_note(value)
        if value != self._used:
            self._used = value
            self.valueChanged.emit(value)

    @Slot()
    def _restore(self) -> None:
        self._form.setValue(WindowSettings())
        self._take(WindowSettings())

    def _show_note(self, value: WindowSettings) -> None:
        next_folder = runs_folder(value)
        words = f"Runs are kept in {self._runs_dir}."
        if next_folder != self._runs_dir:
            words += f" From the next start of gpupanel on: {next_folder}."
        elif value.runs_dir and str(next_folder) != value.runs_dir:
            words += f" The environment variable {RUNS_DIR_VARIABLE} names this folder."
        self._note.setProse(words)
