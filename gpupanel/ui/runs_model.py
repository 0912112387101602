"""Past runs as a table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from gpupanel.runs.history.summaries import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.run_state import outcome_words

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    tip: str
    text: Callable[[RunSummary], str]
    key: Callable[[RunSummary], str | float]
    is_number: bool = False


def _when(run: RunSummary) -> str:
    if run.started_s is None:
        return formatting.DASH
    moment = datetime.fromtimestamp(run.started_s).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _lasted(run: RunSummary) -> float | None:
    if run.started_s is None or run.ended_s is None:
        return None
    return run.ended_s - run.started_s


def _devices(run: RunSummary) -> str:
    names = [formatting.short_device_name(name) for name in run.devices]
    return ", ".join(names) or formatting.DASH


COLUMNS = (
    _Column(
        "Profile",
        "The name of the profile that the run was started with.",
        lambda run: run.profile_name,
        lambda run: run.profile_name.lower(),
    ),
    _Column("Started", "When the run started.", _when, lambda run: run.started_s or 0.0),
    _Column(
        "Outcome",
        "How the run ended. Lost: the training process vanished without a word.",
        lambda run: outcome_words(run.outcome),
        lambda run: outcome_words(run.outcome),
    ),
    _Column(
        "Took",
        "From start to end, start-up included.",
        lambda run: formatting.duration(_lasted(run)),
        lambda run: _lasted(run) or 0.0,
        is_number=True,
    ),
    _Column(
        "Val. accuracy",
        "Part of the validation examples that the trained model gets right.",
        lambda run: formatting.fraction(run.metrics.val_accuracy),
        lambda run: -1.0 if run.metrics.val_accuracy is None else run.metrics.val_accuracy,
        is_number=True,
    ),
    _Column(
        "Val. loss",
        "Mean loss over the validation examples; lower is better.",
        lambda run: formatting.number(run.metrics.val_loss),
        lambda run: float("inf") if run.metrics.val_loss is None else run.metrics.val_loss,
        is_number=True,
    ),
    _Column(
        "Speed",
        "Training examples a second over all devices; start-up and validation not counted.",
        lambda run: formatting.rate(run.examples_per_second),
        lambda run: run.examples_per_second or 0.0,
        is_number=True,
    ),
    _Column("Devices", "The physical devices that it used.", _devices, _devices),
)
SORT_ROLE = int(Qt.ItemDataRole.UserRole)


class RunsModel(QAbstractTableModel):
    """Read-only; a row per run, its columns in :data:`COLUMNS`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[RunSummary, ...] = ()

    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show other runs; rows of runs that are still there keep their place and selection."""
        if runs == self._runs:
            return
        if [run.path for run in runs] == [run.path for run in self._runs]:
            self._runs = runs
            last = self.index(len(runs) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._runs = runs
        self.endResetModel()

    def run(self, row: int) -> RunSummary:
        """The run in a row."""
        return self._runs[row]

    def row_of(self, run: RunSummary) -> int | None:
        """The row of the run in that directory, or ``None`` when it is gone."""
        paths = [each.path for each in self._runs]
        return paths.index(run.path) if run.path in paths else None

    @override
    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._runs)

    @override
    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        run, column = self._runs[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(run)
            case Qt.ItemDataRole.UserRole:
                return column.key(run)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(run)
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    @override
    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        column = COLUMNS[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip
            case Qt.ItemDataRole.TextAlignmentRole if column.is_number:
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


def _tooltip(run: RunSummary) -> str:
    lines = [str(run.path)]
    if run.problem is not None:
        lines += [run.problem.message, run.problem.hint]
    return "\n".join(line for line in lines if line)
