"""Past runs and those that go on: found, opened, named, compared, and moved to the bin."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui import theme
from gpupanel.ui.panels.runs_panel.actions import RunListActions, action, with_baseline
from gpupanel.ui.panels.runs_panel.column_choices import ColumnChoices
from gpupanel.ui.panels.runs_panel.column_chooser import ColumnChooser
from gpupanel.ui.panels.runs_panel.nothing_found import NothingFound
from gpupanel.ui.panels.runs_panel.search import RunSearch
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.buttons import ActionButton
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import ElidedLabel, EmptyState, ShorterLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.stable_styles import StableStyles
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.widgets.undo_button import UndoButton

if TYPE_CHECKING:
    from gpupanel.ui.panels.runs_panel.scatter_dialog import ScatterDialog

_MOST_NAMED = 3
_NO_RUNS = "No runs yet"
_NO_RUNS_WORDS = (
    "Each run appears here with its outcome, accuracy and speed. Press Start to make the first one."
)


class RunsPanel(QWidget):
    """A row per run, newest first; double click or Enter opens it in Live.

    Args:
        runs_dir: Where the runs are kept, which is said below the table.
    """

    runOpened = Signal(object)
    """The directory of the run that is to be shown: a :class:`Path`."""
    settingsRequested = Signal(object)
    """The settings of a run are to be used for another one: its :class:`RunSummary`."""
    exportRequested = Signal(object, object)
    """A run is to be exported: its :class:`RunSummary`, and as which :class:`ExportFormat` or
    :class:`ModelExportFormat`."""
    compareRequested = Signal(object)
    """The runs to be compared, as they stand in the table: a tuple of :class:`RunSummary`."""
    renameRequested = Signal(object)
    """The :class:`RunSummary` that is to get another name."""
    notesRequested = Signal(object)
    """The :class:`RunSummary` about which something is to be noted."""
    deleteRequested = Signal(object)
    """The runs that are to go to the bin: a tuple of :class:`RunSummary`; none of them runs."""
    undoRequested = Signal()
    """The runs that went to the bin last are to come back."""
    refreshRequested = Signal()
    columnsChanged = Signal()
    """A person hid, showed, moved, widened or sorted by a column, or wants trainings only or all
    runs: see :meth:`columns`."""
    settingsWanted = Signal()
    """What the runs were started with is needed: see :meth:`setSettings`."""

    def __init__(self, runs_dir: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_panel")
        self._is_listed = False
        self._styles = StableStyles()
        self._chooser: ColumnChooser | None = None
        self._scatter: ScatterDialog | None = None
        self._table = RunsTable(self)
        self._search = RunSearch(self._table, self)
        self._count = ShorterLabel(self)
        self._count.setObjectName("runs_count")
        self._count.setProperty("tone", "muted")
        self._notice = ElidedLabel("", self)
        self._notice.setObjectName("runs_notice")
        self._notice.hide()
        self._undo = UndoButton("&Undo", "runs_undo", "Undo move to bin", self)
        self._undo.clicked.connect(self.undoRequested)
        self._where = ElidedLabel("", self)
        self._where.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setFolder(str(runs_dir))
        self._where.setProperty("tone", "muted")
        self._actions = RunListActions(self)
        self._make_actions()
        self._compose()
        self._search.searched.connect(self._show_searched)
        self._search.settingsWanted.connect(self.settingsWanted)
        self._search.switched.connect(self.columnsChanged)
        self._table.activated.connect(self._on_activated)
        self._table.customContextMenuRequested.connect(self._open_menu)
        self._table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._table.columnsChanged.connect(self.columnsChanged)
        self._table.settingsWanted.connect(self.settingsWanted)
        self._table.more_columns.triggered.connect(self._open_chooser)
        self._show_choices()

    def setRuns(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs; what is chosen, and the rows that are visible, stay."""
        was_listed, self._is_listed = self._is_listed, True
        self._empty.setTexts(_NO_RUNS, _NO_RUNS_WORDS)
        if not self._table.set_runs(runs) and was_listed:
            return
        self._search.take_runs()
        self._show_found()
        self._show_choices()

    def setFolder(self, folder: str) -> None:
        """Say where the runs are kept."""
        self._where.setText(folder)
        self._where.setToolTip(wrapped(f"The runs are kept in {folder}"))

    def setSettings(self, settings: Mapping[str, RunSettings]) -> None:
        """Take what the runs were started with, by the names of their directories."""
        self._table.set_settings(settings)
        self._search.take_settings()
        self._draw_scatter()
        if self._chooser is not None and self._chooser.isVisible():
            self._chooser.setOffers(*self._table.offers())

    def setProblem(self, problem: Problem) -> None:
        """Say why the runs cannot be listed, in their place."""
        self.setRuns(())
        self._empty.setTexts("The runs cannot be listed", problem_sentences(problem))

    def setNotice(self, text: str) -> None:
        """Say what became of what was asked for, until something else is chosen."""
        self._notice.setText(text)
        self._notice.setToolTip(wrapped(text))
        # Its place is the search's as long as there is nothing to be said.
        self._notice.setVisible(bool(text))

    def setUndo(self, names: Sequence[str]) -> None:
        """Offer to undo that these runs went to the bin; none: nothing can be undone."""
        shown = ", ".join(names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        had_focus = self._undo.hasFocus()
        self._undo.offer(f"Takes {shown}{more} out of the bin again" if names else "")
        if had_focus and not names:
            self._table.setFocus()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Groups, axes and searches then know them when they are asked for.
        self.settingsWanted.emit()

    def setComparable(self, comparable: bool) -> None:
        """Offer to compare runs, where something shows them so."""
        self._actions.compare.setVisible(comparable)

    def setReusable(self, reusable: bool) -> None:
        """Offer to use the settings of a run, where something can do so."""
        self._actions.use.setVisible(reusable)

    def setExportable(self, exportable: bool) -> None:
        """Offer to export a run, where something can do so."""
        self._actions.export.setVisible(exportable)

    def columns(self) -> ColumnChoices:
        """How the columns are, to be remembered."""
        trainings_only = self._search.trainings_only.value()
        return replace(self._table.choices(), trainings_only=trainings_only)

    def setColumns(self, choices: ColumnChoices) -> None:
        """Have the columns as they were remembered."""
        self._table.set_choices(choices)
        self._search.set_trainings_only(trainings_only=choices.trainings_only)
        self._show_found()

    def baseline(self) -> RunSummary | None:
        """The run that others are compared with; ``None``: none is pinned."""
        return self._table.baseline()

    def keep_styles(self, runs: Sequence[RunSummary]) -> tuple[int, ...]:
        """The styles of runs that are compared now, to be theirs from now on."""
        return self._styles.keep([run.name for run in runs])

    def chosen_runs(self) -> tuple[RunSummary, ...]:
        """The chosen runs, as they stand in the table."""
        return self._table.chosen_runs()

    def _make_actions(self) -> None:
        actions = self._actions
        actions.open.triggered.connect(self._open_chosen)
        actions.use.triggered.connect(self._use_chosen)
        actions.compare.triggered.connect(self._compare_chosen)
        actions.exports.chosen.connect(self._export_chosen)
        actions.rename.triggered.connect(self._rename_chosen)
        actions.notes.triggered.connect(self._note_chosen)
        actions.baseline.triggered.connect(self._pin_chosen)
        actions.delete.triggered.connect(self._delete_chosen)
        self._table.addActions([actions.rename, actions.delete])
        self._refresh = action(self, "Refre&sh", "runs_refresh", "F5")
        self._refresh.setToolTip("Reads the folder of runs again (F5)")
        self._refresh.triggered.connect(self.refreshRequested)
        find = action(self, "Search", "runs_find", "Ctrl+F")
        find.triggered.connect(self._search.begin)
        for each in (self._refresh, find):
            # Wherever the focus is, as long as the page is shown.
            each.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            self.addAction(each)

    def _compose(self) -> None:
        self._empty = EmptyState(_NO_RUNS, _NO_RUNS_WORDS)
        self._not_found = NothingFound(self._search)
        # No stack: that would be as high as the highest of them, also in a small window.
        self._parts = (self._table, self._empty, self._not_found)
        self._scatter_button = QPushButton("Scatter…", self)
        self._scatter_button.setObjectName("runs_scatter")
        self._scatter_button.setToolTip("Draws a setting against what the runs reached")
        self._scatter_button.clicked.connect(self._open_scatter)
        self._group = QPushButton("Group", self)
        self._group.setObjectName("runs_group")
        self._group.setToolTip("Groups the runs by what a column says of them")
        self._group.clicked.connect(self._open_groups)
        self._columns = QPushButton("Columns…", self)
        self._columns.setObjectName("runs_columns")
        self._columns.setToolTip("Chooses the columns, of every setting and metric")
        self._columns.clicked.connect(self._open_chooser)
        listed, tools, foot = QWidget(self), QWidget(self), QHBoxLayout()
        foot.setSpacing(GRID)
        buttons = QWidget(self)
        flow = FlowLayout(buttons)
        row = row_in(listed)
        row.addWidget(self._search.field, 1)
        row.addWidget(self._search.trainings_only)
        row.addWidget(self._count)
        row.addWidget(self._undo)
        row.addWidget(self._notice, 1)
        row = row_in(tools)
        for button in (self._scatter_button, self._group, self._columns):
            row.addWidget(button)
        for each in self._actions.all:
            flow.addWidget(ActionButton(each, self))
        foot.addWidget(buttons)
        # Where there is little room it is the buttons'.
        self._where.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        foot.addWidget(self._where, 1)
        foot.addWidget(ActionButton(self._refresh, self), alignment=Qt.AlignmentFlag.AlignTop)
        self._where.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(BesideOrBelow(listed, tools))
        layout.addWidget(self._search.note)
        for part in self._parts:
            layout.addWidget(part, 1)
            part.setVisible(part is self._table)
        layout.addLayout(foot)

    def _show_found(self) -> None:
        """How many runs there are, or what to do where there are none."""
        content = self._table.content
        count, found = len(content.all_rows), len(content.found_rows)
        self._not_found.show_for(count)
        instead = self._not_found if count else self._empty
        shown = self._table if found or not self._is_listed else instead
        for part in self._parts:
            part.setVisible(part is shown)
        self._count.setForms(self._search.count_forms())

    @Slot()
    def _show_searched(self) -> None:
        self._show_found()
        self._show_choices()

    @Slot()
    def _show_choices(self) -> None:
        self._draw_scatter()
        self._actions.show_for(self.chosen_runs(), self._table.baseline())

    @Slot()
    def _on_selection_changed(self) -> None:
        self.setNotice("")
        self._show_choices()

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        row = self._table.content.row(index.row())
        if isinstance(row, RunSummary):
            self.runOpened.emit(row.path)

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        menu = self._actions.menu(self)
        menu.popup(self._table.viewport().mapToGlobal(place))

    @Slot()
    def _open_scatter(self) -> None:
        self.settingsWanted.emit()
        if self._scatter is None:
            # Here and not above: it comes with pyqtgraph.
            from gpupanel.ui.panels.runs_panel.scatter_dialog import ScatterDialog

            self._scatter = ScatterDialog(self)
            self._scatter.runChosen.connect(self._table.choose)
            self._scatter.plot.opened.connect(self._open_named)
        self._scatter.show()
        self._scatter.activateWindow()
        self._draw_scatter()

    def _draw_scatter(self) -> None:
        """What is shown and chosen in the table, with the colours that a comparison gives it."""
        if self._scatter is None or not self._scatter.isVisible():
            return
        rows = self._table.content.found_rows
        compared = with_baseline(self.chosen_runs(), self._table.baseline())
        names = [run.name for run in compared]
        styles = zip(names, self._styles.of(names), strict=True)
        colors = {name: theme.device_color(style) for name, style in styles}
        runs = [row for row in rows if isinstance(row, RunSummary)]
        self._scatter.setRuns(runs, colors, *self._table.axis_columns())

    @Slot(str)
    def _open_named(self, name: str) -> None:
        run = next((each for each in self._table.runs if each.name == name), None)
        if run is not None:
            self.runOpened.emit(run.path)

    @Slot()
    def _open_groups(self) -> None:
        self.settingsWanted.emit()
        menu = self._table.group_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._group.mapToGlobal(QPoint(0, self._group.height())))

    @Slot()
    def _open_chooser(self) -> None:
        self.settingsWanted.emit()
        if self._chooser is None:
            self._chooser = ColumnChooser(self)
            self._chooser.changed.connect(self._table.show_columns)
        self._chooser.setOffers(*self._table.offers())
        self._chooser.open()

    @Slot()
    def _open_chosen(self) -> None:
        self.runOpened.emit(self.chosen_runs()[0].path)

    @Slot()
    def _use_chosen(self) -> None:
        self.settingsRequested.emit(self.chosen_runs()[0])

    @Slot()
    def _compare_chosen(self) -> None:
        baseline = self._table.baseline()
        runs = with_baseline(self.chosen_runs(), baseline)
        self.compareRequested.emit(runs)

    @Slot(object)
    def _export_chosen(self, wanted: ExportFormat | ModelExportFormat) -> None:
        chosen = self.chosen_runs()
        if len(chosen) == 1:
            self.exportRequested.emit(chosen[0], wanted)

    @Slot()
    def _rename_chosen(self) -> None:
        self.renameRequested.emit(self.chosen_runs()[0])

    @Slot()
    def _note_chosen(self) -> None:
        self.notesRequested.emit(self.chosen_runs()[0])

    @Slot()
    def _pin_chosen(self) -> None:
        (run,) = self.chosen_runs()
        is_pinned = run == self._table.baseline()
        self._table.set_baseline("" if is_pinned else run.name)
        self._show_choices()

    @Slot()
    def _delete_chosen(self) -> None:
        self.deleteRequested.emit(self.chosen_runs())
