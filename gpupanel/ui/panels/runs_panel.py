"""Past runs and those that go on, in a table that opens them."""

from pathlib import Path

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpupanel.runs.history.summaries import RunSummary
from gpupanel.ui.runs_model import SORT_ROLE, RunsModel
from gpupanel.ui.widgets.empty_state import EmptyState


class RunsPanel(QWidget):
    """A row per run, newest first; double click or Enter opens it in Live.

    Args:
        runs_dir: Where the runs are kept, which is said below the table.
    """

    runOpened = Signal(object)
    """The directory of the run that is to be shown: a :class:`Path`."""
    refreshRequested = Signal()

    def __init__(self, runs_dir: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_panel")
        self._model = RunsModel(self)
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSourceModel(self._model)
        self._proxy.setSortRole(SORT_ROLE)
        self._table = self._make_table()
        self._open = QPushButton("&Open run", self)
        self._open.setToolTip("Shows the curves, devices and log of the chosen run in Live (Enter)")
        self._open.setEnabled(False)
        self._refresh = QPushButton("Re&fresh", self)
        self._refresh.setToolTip("Reads the folder of runs again, such as after a run elsewhere")
        self._where = QLabel(str(runs_dir), self)
        self._where.setProperty("tone", "muted")
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._compose()
        self._table.activated.connect(self._on_activated)
        self._table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._open.clicked.connect(self._open_selected)
        self._refresh.clicked.connect(self.refreshRequested)

    def setRuns(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs; the chosen one stays chosen."""
        chosen = self.selected_run()
        self._model.set_runs(runs)
        self._stack.setCurrentIndex(1 if runs else 0)
        row = None if chosen is None else self._model.row_of(chosen)
        if row is not None:
            self._table.selectRow(self._proxy.mapFromSource(self._model.index(row, 0)).row())

    def selected_run(self) -> RunSummary | None:
        """The run that is chosen in the table."""
        rows = self._table.selectionModel().selectedRows()
        return self._model.run(self._proxy.mapToSource(rows[0]).row()) if rows else None

    def _make_table(self) -> QTableView:
        table = QTableView(self)
        table.setObjectName("runs_table")
        table.setModel(self._proxy)
        table.setSortingEnabled(True)
        table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setAlternatingRowColors(True)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(32)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setAccessibleName("Runs")
        return table

    def _compose(self) -> None:
        empty = EmptyState(
            "No runs yet",
            "Each run appears here with its outcome, accuracy and speed. "
            "Press Start to make the first one.",
        )
        self._stack = QStackedLayout()
        self._stack.addWidget(empty)
        self._stack.addWidget(self._table)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self._open)
        foot.addWidget(self._refresh)
        foot.addStretch(1)
        foot.addWidget(self._where)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(self._stack, 1)
        layout.addLayout(foot)

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        run = self._model.run(self._proxy.mapToSource(index).row())
        self.runOpened.emit(run.path)

    @Slot()
    def _on_selection_changed(self) -> None:
        self._open.setEnabled(self.selected_run() is not None)

    @Slot()
    def _open_selected(self) -> None:
        run = self.selected_run()
        if run is not None:
            self.runOpened.emit(run.path)
