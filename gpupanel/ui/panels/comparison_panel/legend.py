"""The legend of a comparison: each run with its outcome and values; a check mark hides it."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from gpupanel.domain.metric import Metric
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.comparison_panel import run_styles
from gpupanel.ui.panels.comparison_panel.run_styles import MARK_SIZE
from gpupanel.ui.plots.unit_text import unit_text
from gpupanel.ui.run_texts import outcome_text
from gpupanel.ui.widgets.table_model import Column, Index, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.workers.comparison_worker import ComparedRun

_COLORS_TIP = "Colours and line styles identify runs here, not devices."


def outcome_of(run: ComparedRun) -> str:
    """How a run ended, or what is the matter with it."""
    if run.problem is not None:
        return "Deleted" if run.problem.code == "run_deleted" else "Unreadable"
    if not run.is_read:
        return "Reading…"
    return outcome_text(run.summary.outcome, run.summary.saved)


def steps_of(run: ComparedRun) -> str:
    """How many steps were done."""
    if not run.points:
        return "no step" if run.is_read else formatting.DASH
    return formatting.count(run.step)


def values_of(run: ComparedRun, metric: Metric) -> str:
    """The last value and, behind it, the best one: "0.0312 (0.0298)"."""
    points = run.points.get(metric.name)
    if points is None:
        return formatting.DASH
    text = unit_text(metric).scaled_text
    return f"{text(points.last())} ({text(points.best(more_is_better=metric.more_is_better))})"


def speed_of(run: ComparedRun) -> str:
    """Over the whole training where that is known, else over the last steps."""
    points = run.points.get("examples_per_second")
    last = None if points is None else points.last()
    return formatting.rate(run.summary.examples_per_second or last)


_RUN: Column[ComparedRun] = Column("Run", _COLORS_TIP, lambda run: run.summary.title)
_LAST: tuple[Column[ComparedRun], ...] = (
    Column("Outcome", "How the run ended, or that it is running.", outcome_of),
    Column("Steps", "Optimizer updates done.", steps_of, is_number=True),
    Column(
        "Speed",
        "Training examples per second; over the whole training once it ended.",
        speed_of,
        is_number=True,
    ),
)
"""Behind what the runs reached, which is what they are compared for."""


_TESTED: tuple[Column[ComparedRun], ...] = (
    Column(
        "Test loss",
        "Mean loss over the test examples, after the training.",
        lambda run: formatting.number(run.summary.tested.loss),
        is_number=True,
    ),
    Column(
        "Test acc.",
        "Fraction of the test examples classified correctly, after the training.",
        lambda run: formatting.fraction(run.summary.tested.accuracy),
        is_number=True,
    ),
    Column(
        "Test error",
        "How far predicted values are from the true ones, over the test examples, after the "
        "training.",
        lambda run: formatting.number(run.summary.tested.mean_absolute_error),
        is_number=True,
    ),
)


def legend_columns(
    metrics: Sequence[Metric], runs: Sequence[ComparedRun] = ()
) -> tuple[Column[ComparedRun], ...]:
    """The columns where some run has these metrics, or one of a test set."""
    measured = [metric for metric in metrics if metric.is_of_model]
    tested = [
        column for column in _TESTED if any(column.text(run) != formatting.DASH for run in runs)
    ]
    return (_RUN, *(_metric_column(metric) for metric in measured), *tested, *_LAST)


def _metric_column(metric: Metric) -> Column[ComparedRun]:
    best = "greatest" if metric.more_is_better else "least"
    tip = f"{metric.tip} The last value, and the {best} one in brackets."
    title = f"{metric.short_title} (best)"
    return Column(title, tip, lambda run: values_of(run, metric), is_number=True)


class LegendModel(TableModel[ComparedRun]):
    """A row per run; its check mark says whether its curves are drawn."""

    hiddenChanged = Signal(object)
    """The places of the runs that are not drawn, after a person changed them: a frozenset."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(legend_columns(()), lambda run: run.summary.path, _tip, parent=parent)
        self._hidden: frozenset[int] = frozenset()

    def set_runs(self, runs: tuple[ComparedRun, ...], metrics: tuple[Metric, ...]) -> None:
        """Show these runs; those that are hidden stay hidden as long as the runs are the same."""
        if [run.summary.path for run in runs] != [run.summary.path for run in self.rows]:
            self._hidden = frozenset()
        self.set_columns(legend_columns(metrics, runs), runs)

    @Slot(str)
    def toggle(self, title: str) -> None:
        """Hide the run of that title, or show it again."""
        titles = [run.summary.title for run in self.rows]
        if title in titles:
            index = self.index(titles.index(title), 0)
            is_hidden = index.row() in self._hidden
            state = Qt.CheckState.Checked if is_hidden else Qt.CheckState.Unchecked
            self.setData(index, state, Qt.ItemDataRole.CheckStateRole)

    def texts(self) -> list[list[str]]:
        """All that it says: titles first, then a row for each run."""
        rows = [[column.text(run) for column in self.columns] for run in self.rows]
        return [[column.title for column in self.columns], *rows]

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        is_hidden = index.row() in self._hidden
        match role:
            case Qt.ItemDataRole.CheckStateRole if index.column() == 0:
                return Qt.CheckState.Unchecked if is_hidden else Qt.CheckState.Checked
            case Qt.ItemDataRole.DecorationRole if index.column() == 0:
                ratio = QGuiApplication.primaryScreen().devicePixelRatio()
                style = self.row(index.row()).style
                return run_styles.mark(style, is_hidden=is_hidden, ratio=ratio)
        return super().data(index, role)

    @override
    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != 0:
            return False
        is_shown = Qt.CheckState(value) is Qt.CheckState.Checked
        place = frozenset((index.row(),))
        self._hidden = self._hidden - place if is_shown else self._hidden | place
        self.dataChanged.emit(index, index)
        self.hiddenChanged.emit(self._hidden)
        return True


def _tip(run: ComparedRun) -> str:
    lines = [run.summary.name, str(run.summary.path)]
    problem = run.problem or run.summary.problem
    if problem is not None:
        lines += [problem.message, problem.hint]
    return "\n".join(line for line in lines if line)


_ROW_HEIGHT = 28
_ANY_HEIGHT = 1 << 20
_NARROWEST_NAME = 208
"""Pixels for mark and name; the table scrolls sideways where the numbers leave less."""


class LegendView(TableView[ComparedRun]):
    """As high as its rows, or as there is room for; hides and shows runs.

    A click on a run's check mark, or the space bar, does so.
    """

    def __init__(self, model: LegendModel, parent: QWidget | None = None) -> None:
        super().__init__(model, "comparison_legend", "Compared runs", _ROW_HEIGHT, parent)
        self.setIconSize(MARK_SIZE)
        self.setAlternatingRowColors(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.sectionResized.connect(self._share_width)
        # It comes and goes with the width of the numbers, and takes from the height of the rows.
        self.horizontalScrollBar().rangeChanged.connect(self._fit)
        self._room = _ANY_HEIGHT
        for change in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            change.connect(self._fit)
        theme.changes.changed.connect(model.refresh)
        self._fit()

    def setRoom(self, pixels: int) -> None:
        """Be no higher than that; further rows are scrolled to, but two are seen in any case."""
        if pixels != self._room:
            self._room = pixels
            self._fit()

    @override
    def sizeHint(self) -> QSize:
        bar = self.horizontalScrollBar()
        around = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        around += bar.sizeHint().height() if bar.maximum() > bar.minimum() else 0
        # Whole ones: of a row that is cut, nobody sees that more come after it.
        with_room = max(2, (self._room - around) // _ROW_HEIGHT)
        return QSize(480, around + _ROW_HEIGHT * min(self.content.rowCount(), with_room))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    @Slot()
    def _fit(self) -> None:
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self._share_width()
        height = self.sizeHint().height()
        if height != self.minimumHeight():
            self.setFixedHeight(height)
            self.updateGeometry()
        whole = _ROW_HEIGHT * self.content.rowCount()
        has_all = whole <= height - self.horizontalHeader().sizeHint().height()
        off, needed = (
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            Qt.ScrollBarPolicy.ScrollBarAsNeeded,
        )
        self.setVerticalScrollBarPolicy(off if has_all else needed)

    @Slot()
    def _share_width(self) -> None:
        """The names have what the numbers leave them, since they can be shortened."""
        header = self.horizontalHeader()
        others = sum(header.sectionSize(column) for column in range(1, header.count()))
        width = max(_NARROWEST_NAME, self.viewport().width() - others)
        if width != header.sectionSize(0):
            header.resizeSection(0, width)
