"""Which run is which, how it ended, and what it reached: a row each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.metrics import Metric
from gpupanel.ui import formatting
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.metric_text import WORDS
from gpupanel.ui.run_state import outcome_words
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.comparison_worker import ComparedRun

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_COLORS_TIP = "Colours and line styles identify runs here, not devices."


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    tip: str
    text: Callable[[ComparedRun], str]
    is_number: bool = True


def outcome_of(run: ComparedRun) -> str:
    """How a run ended, or what is the matter with it."""
    if run.problem is not None:
        return "Deleted" if run.problem.code == "run_deleted" else "Unreadable"
    if not run.is_read:
        return "Reading…"
    return outcome_words(run.summary.outcome, run.summary.saved)


def steps_of(run: ComparedRun) -> str:
    """How many steps were done."""
    if not run.points:
        return "no step" if run.is_read else formatting.DASH
    return formatting.count(run.step)


def values_of(run: ComparedRun, metric: Metric) -> str:
    """The last value and, behind it, the best one: "0.0312 (0.0298)"."""
    points = run.points.get(metric)
    if points is None:
        return formatting.DASH
    words = WORDS[metric]
    best = points.best(more_is_better=metric.more_is_better)
    return " ".join(
        (
            _scaled(points.last(), metric),
            f"({words.text(None if best is None else best * words.scale)})",
        )
    )


def speed_of(run: ComparedRun) -> str:
    """Over the whole training where that is known, else over the last steps."""
    points = run.points.get(Metric.EXAMPLES_PER_SECOND)
    last = None if points is None else points.last()
    return formatting.rate(run.summary.examples_per_second or last)


def _scaled(value: float | None, metric: Metric) -> str:
    words = WORDS[metric]
    return words.text(None if value is None else value * words.scale)


_FIRST = (
    _Column("Run", _COLORS_TIP, lambda run: run.summary.title, is_number=False),
    _Column("Outcome", "How the run ended, or that it is running.", outcome_of, is_number=False),
    _Column("Steps", "Optimizer updates done.", steps_of),
)
_SPEED = _Column(
    "Speed", "Training examples per second; over the whole training once it ended.", speed_of
)


def legend_columns(metrics: Sequence[Metric]) -> tuple[_Column, ...]:
    """The columns where some run has these metrics."""
    measured = [metric for metric in metrics if metric is not Metric.EXAMPLES_PER_SECOND]
    return (*_FIRST, *(_metric_column(metric) for metric in measured), _SPEED)


def _metric_column(metric: Metric) -> _Column:
    words = WORDS[metric]
    best = "greatest" if metric.more_is_better else "least"
    tip = f"{words.tip} The last value, and the {best} one in brackets."
    return _Column(f"{words.column} (best)", tip, lambda run: values_of(run, metric))


class LegendModel(QAbstractTableModel):
    """A row per run; its check mark says whether its curves are drawn."""

    hiddenChanged = Signal(object)
    """The places of the runs that are not drawn, after a person changed them: a frozenset."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[ComparedRun, ...] = ()
        self._hidden: frozenset[int] = frozenset()
        self._columns = legend_columns(())

    def set_runs(self, runs: tuple[ComparedRun, ...], metrics: tuple[Metric, ...]) -> None:
        """Show these runs; those that are hidden stay hidden as long as the runs are the same."""
        columns = legend_columns(metrics)
        titles = [column.title for column in columns]
        is_same = [run.summary.path for run in runs] == [run.summary.path for run in self._runs]
        if is_same and titles == [column.title for column in self._columns]:
            self._runs = runs
            self.refresh()
            return
        self.beginResetModel()
        self._runs, self._columns = runs, columns
        self._hidden = self._hidden if is_same else frozenset()
        self.endResetModel()

    def texts(self) -> list[list[str]]:
        """All that it says: titles first, then a row for each run."""
        rows = [[column.text(run) for column in self._columns] for run in self._runs]
        return [[column.title for column in self._columns], *rows]

    def refresh(self) -> None:
        """Every cell is to be looked at again, such as after a change of theme."""
        if self._runs:
            last = self.index(len(self._runs) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    @override
    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._runs)

    @override
    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._columns)

    @override
    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        run, column = self._runs[index.row()], self._columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(column.text(run))
            case Qt.ItemDataRole.ToolTipRole:
                return wrapped(_tooltip(run))
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            case Qt.ItemDataRole.CheckStateRole if index.column() == 0:
                is_hidden = index.row() in self._hidden
                return Qt.CheckState.Unchecked if is_hidden else Qt.CheckState.Checked
            case Qt.ItemDataRole.DecorationRole if index.column() == 0:
                ratio = QGuiApplication.primaryScreen().devicePixelRatio()
                is_hidden = index.row() in self._hidden
                return run_styles.mark(index.row(), is_hidden=is_hidden, ratio=ratio)
        return None

    @override
    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != 0:
            return False
        is_shown = Qt.CheckState(value) is Qt.CheckState.Checked
        place = frozenset((index.row(),))
        self._hidden = self._hidden - place if is_shown else self._hidden | place
        self.dataChanged.emit(index, index)
        self.hiddenChanged.emit(self._hidden)
        return True

    @override
    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        column = self._columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


def _tooltip(run: ComparedRun) -> str:
    lines = [run.summary.name, str(run.summary.path)]
    problem = run.problem or run.summary.problem
    if problem is not None:
        lines += [problem.message, problem.hint]
    return "\n".join(line for line in lines if line)
