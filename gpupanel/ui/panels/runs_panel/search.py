"""The search of the list of runs: its field, what is wrong with it, and which rows it leaves."""

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.run_filter import RunFilter, parse_run_filter
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.finding import needs_settings, run_finder
from gpupanel.ui import formatting
from gpupanel.ui.inputs.input import quoted
from gpupanel.ui.panels.runs_panel.actions import action
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

_TIP = (
    "Finds runs by name, notes, tags, profile, device, strategy or outcome (Ctrl+F); all words "
    "have to match.\nValues of settings and metrics are compared: "
    "val_accuracy > 0.9 and model = cnn and epochs >= 10 and tag:baseline"
)


class RunSearch(QObject):
    """Searches the table as somebody types; the panel arranges its field and its note.

    Args:
        table: What is searched.
        parent: Owns the field, the note and the search.
    """

    searched = Signal()
    """Something else was typed: other rows may be shown."""
    settingsWanted = Signal()
    """What the runs were started with is compared, and not known yet."""

    def __init__(self, table: RunsTable, parent: QWidget) -> None:
        super().__init__(parent)
        self._table = table
        self._filter = RunFilter()
        self._has_settings = False
        self.field = QLineEdit(parent)
        self.field.setObjectName("runs_search")
        self.field.setPlaceholderText("Search runs, or val_accuracy > 0.9")
        self.field.setToolTip(wrapped(_TIP))
        self.field.setAccessibleName("Search runs")
        self.field.setClearButtonEnabled(True)
        self.field.setMaximumWidth(48 * GRID)
        self.field.textChanged.connect(self._on_typed)
        self.note = QLabel(parent)
        self.note.setObjectName("runs_search_note")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.hide()
        leave = action(parent, "Clear search", "runs_clear", "Esc")
        leave.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        leave.triggered.connect(self.clear)
        self.field.addAction(leave)

    def take_runs(self) -> None:
        """Other runs are listed: what is wrong with the search may be right now."""
        if self.note.text():
            self._search()

    def take_settings(self) -> None:
        """It is known what the runs were started with."""
        self._has_settings = True
        if not self._filter.is_plain:
            self._search()

    def nothing_found(self, count: int) -> str:
        """What is said where none of so many runs is found."""
        if not self._filter.is_plain:
            return f"None of the {formatting.count(count)} runs is as that asks."
        typed = visible_line(quoted(self.field.text().strip()))
        return (
            f"None of the {formatting.count(count)} runs has {typed} in "
            "its name, notes, tags, profile, devices or outcome. Values are compared like this: "
            "val_accuracy > 0.9 and model = cnn."
        )

    @Slot()
    def begin(self) -> None:
        """Have somebody type."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    @Slot()
    def clear(self) -> None:
        """Show all runs again."""
        self.field.clear()
        self._table.setFocus()

    @Slot(str)
    def _on_typed(self, _text: str) -> None:
        self._search()
        self.searched.emit()

    def _search(self) -> None:
        """Search by what stands in the field; what is wrong with it is said below it."""
        try:
            wanted = parse_run_filter(self.field.text())
            if needs_settings(wanted) and not self._has_settings:
                self._filter = wanted
                self._say("Reading the settings of the runs…", Tone.MUTED)
                self.settingsWanted.emit()
                return
            is_found = run_finder(wanted, self._table.runs, self._table.settings)
        except ProblemError as error:
            self._say(problem_sentences(error.problems[0]), Tone.ERROR)
            if not self._table.content.found_rows:
                self._filter = RunFilter()
                self._table.set_search(None)
            return
        self._filter = wanted
        self._say("", Tone.MUTED)
        self._table.set_search(is_found if wanted != RunFilter() else None)

    def _say(self, text: str, tone: Tone) -> None:
        self.note.setText(visible_line(text))
        self.note.setVisible(bool(text))
        set_tone(self.note, tone)
