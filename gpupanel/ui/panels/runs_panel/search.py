"""Which runs the list shows: a search, what is wrong with it, and trainings only or all."""

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.run_filter import RunFilter, parse_run_filter
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.finding import needs_settings, run_finder
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import searched_text
from gpupanel.ui import formatting
from gpupanel.ui.inputs.input import quoted
from gpupanel.ui.inputs.switch import CheckBox
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
_READ_AT_ONCE = 500
"""Runs whose texts are made in one turn: some milliseconds."""
_TASKS = {"evaluate": "evaluation", "predict": "prediction"}
"""What a run of a task is called that is no training."""


class RunSearch(QObject):
    """Searches the table as somebody types; the panel arranges its field, switch and note.

    Args:
        table: What is searched.
        parent: Owns the field, the switch, the note and the search.
    """

    searched = Signal()
    """Something else was typed or switched: other rows may be shown."""
    switched = Signal()
    """A person wants trainings only, or all runs."""
    settingsWanted = Signal()
    """What the runs were started with is compared, and not known yet."""

    def __init__(self, table: RunsTable, parent: QWidget) -> None:
        super().__init__(parent)
        self._table = table
        self._filter = RunFilter()
        self._is_found: Callable[[RunSummary], bool] | None = None
        self._has_settings = False
        self._texts: dict[str, tuple[RunSummary, str]] = {}
        self._unread: list[RunSummary] = []
        # Those that the switch leaves out, found once: each letter asks for them.
        self._others: tuple[RunSummary, ...] = ()
        self._reading = QTimer(self, interval=0)
        self._reading.timeout.connect(self._read_some)
        self.field = QLineEdit(parent)
        self.field.setObjectName("runs_search")
        self.field.setPlaceholderText("Search runs, or val_accuracy > 0.9")
        self.field.setToolTip(wrapped(_TIP))
        self.field.setAccessibleName("Search runs")
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumWidth(20 * GRID)
        self.field.setMaximumWidth(48 * GRID)
        self.field.textChanged.connect(self._on_typed)
        self.trainings_only = CheckBox("Trainings only", parent)
        self.trainings_only.setObjectName("runs_trainings_only")
        self.trainings_only.setToolTip("Leaves out evaluations and predictions")
        self.trainings_only.setValue(True)
        self.trainings_only.valueChanged.connect(self._on_switched)
        self.note = QLabel(parent)
        self.note.setObjectName("runs_search_note")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.hide()
        leave = action(parent, "Clear search", "runs_clear", "Esc")
        leave.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        leave.triggered.connect(self.clear)
        self.field.addAction(leave)
        self._show_found()

    def set_trainings_only(self, *, trainings_only: bool) -> None:
        """List trainings only, or all runs, as it was remembered."""
        self.trainings_only.setValue(trainings_only)
        self._show_found()

    def take_runs(self) -> None:
        """Other runs are listed: what is wrong with the search may be right now."""
        runs, known = self._table.runs, self._texts
        self._others = tuple(run for run in runs if not run.is_training)
        self._texts = {run.name: known[run.name] for run in runs if run.name in known}
        self._unread = [run for run in runs if run.name not in known]
        self._reading.start()
        if self.note.text():
            self._search()

    def take_settings(self) -> None:
        """It is known what the runs were started with."""
        self._has_settings = True
        if not self._filter.is_plain:
            self._search()

    def left_out(self) -> tuple[RunSummary, ...]:
        """The runs that only the switch keeps out of the table."""
        if not self.trainings_only.value():
            return ()
        is_found = self._is_found
        return tuple(run for run in self._others if is_found is None or is_found(run))

    def count_forms(self) -> tuple[str, ...]:
        """How many runs are listed, of how many, and what the switch keeps out of the table.

        In the most words first, for where there is little room.
        """
        left_out = len(self._others) if self.trainings_only.value() else 0
        count, found = len(self._table.runs) - left_out, len(self._table.content.found_rows)
        runs = "1 run" if count == 1 else f"{formatting.count(count)} runs"
        shown = runs if found == count else f"{formatting.count(found)} of {runs}"
        hidden = self.left_out()
        if not hidden:
            return (shown,)
        return (
            f"{shown} · {_hidden_text(hidden)}",
            f"{shown} · {formatting.count(len(hidden))} hidden",
        )

    def nothing_found(self, count: int) -> str:
        """What is said where none of so many runs is found."""
        hidden = _hidden_text(self.left_out())
        if hidden:
            return f"Only trainings are listed: {hidden}."
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

    @Slot()
    def show_all_tasks(self) -> None:
        """Show evaluations and predictions, too, as the switch does."""
        self.trainings_only.setChecked(False)
        self._table.setFocus()

    @Slot()
    def _on_switched(self) -> None:
        self._show_found()
        self.searched.emit()
        self.switched.emit()

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
            runs, settings = self._table.runs, self._table.settings
            is_found = run_finder(wanted, runs, settings, self._text_of)
        except ProblemError as error:
            self._say(problem_sentences(error.problems[0]), Tone.ERROR)
            if not self._table.content.found_rows:
                self._filter = RunFilter()
                self._find(None)
            return
        self._filter = wanted
        self._say("", Tone.MUTED)
        self._find(is_found if wanted != RunFilter() else None)

    @Slot()
    def _read_some(self) -> None:
        """Make texts before somebody types: with the first letter all runs are searched."""
        for run in self._unread[-_READ_AT_ONCE:]:
            self._text_of(run)
        del self._unread[-_READ_AT_ONCE:]
        if not self._unread:
            self._reading.stop()

    def _text_of(self, run: RunSummary) -> str:
        """What is searched of a run, made once."""
        known, text = self._texts.get(run.name, (None, ""))
        if known is not run:
            text = searched_text(run)
            self._texts[run.name] = run, text
        return text

    def _find(self, is_found: Callable[[RunSummary], bool] | None) -> None:
        self._is_found = is_found
        self._show_found()

    def _show_found(self) -> None:
        """Leave the runs in the table that are searched and switched on."""
        is_found = self._is_found
        if not self.trainings_only.value():
            self._table.set_search(is_found)
            return
        self._table.set_search(lambda run: run.is_training and (is_found is None or is_found(run)))

    def _say(self, text: str, tone: Tone) -> None:
        self.note.setText(visible_line(text))
        self.note.setVisible(bool(text))
        set_tone(self.note, tone)


def _hidden_text(hidden: Sequence[RunSummary]) -> str:
    """Such as "3 evaluations hidden"; empty: nothing is."""
    counts = Counter(_TASKS.get(run.task, run.task) for run in hidden)
    parts = [
        f"{formatting.count(count)} {task if count == 1 else f'{task}s'}"
        for task, count in sorted(counts.items())
    ]
    return f"{', '.join(parts)} hidden" if parts else ""
