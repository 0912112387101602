"""Figures per class as a table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from gpupanel.domain.confusion import ClassFigures
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class _Row:
    """A class with the worst mistake about it."""

    number: int
    figures: ClassFigures
    mistake: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    tip: str
    text: Callable[[_Row], str]
    key: Callable[[_Row], float]
    is_number: bool = True


def _or_last(value: float | None) -> float:
    return -1.0 if value is None else value


def _mistake_words(row: _Row) -> str:
    return "" if row.mistake is None else f"{row.mistake[0]} ({row.mistake[1]:,})"


COLUMNS = (
    _Column(
        "Class",
        "The class, in the order of the class numbers.",
        lambda row: row.figures.name,
        lambda row: row.number,
        is_number=False,
    ),
    _Column(
        "Precision",
        "Of the examples predicted as this class, the fraction that belongs to it.",
        lambda row: formatting.fraction(row.figures.precision),
        lambda row: _or_last(row.figures.precision),
    ),
    _Column(
        "Recall",
        "Of the examples of this class, the fraction predicted as it.",
        lambda row: formatting.fraction(row.figures.recall),
        lambda row: _or_last(row.figures.recall),
    ),
    _Column(
        "F1",
        "The harmonic mean of precision and recall: high only where both are.",
        lambda row: formatting.fraction(row.figures.f1),
        lambda row: _or_last(row.figures.f1),
    ),
    _Column(
        "Examples",
        "How many examples of this class there are.",
        lambda row: formatting.count(row.figures.examples),
        lambda row: row.figures.examples,
    ),
    _Column(
        "Confused with",
        "The wrong class that was predicted most often for its examples, and how often.",
        _mistake_words,
        lambda row: 0.0 if row.mistake is None else row.mistake[1],
        is_number=False,
    ),
)


class ClassModel(QAbstractTableModel):
    """Read-only; a row per class, its columns in :data:`COLUMNS`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[_Row, ...] = ()
        self._order = 0, Qt.SortOrder.AscendingOrder

    def set_matrix(self, matrix: "ConfusionMatrix") -> None:
        """Show other classes; the order of sorting stays."""
        self.beginResetModel()
        self._rows = self._sorted(
            _Row(number, figures, matrix.most_mistaken_for(number))
            for number, figures in enumerate(matrix.classes)
        )
        self.endResetModel()

    def number_at(self, index: _Index) -> int:
        """The number of the class in that row."""
        return self._rows[index.row()].number

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Here and not by a proxy, which asks for each of thousands of classes many times."""
        self.layoutAboutToBeChanged.emit()
        self._order = column, order
        chosen = self.persistentIndexList()
        numbers = [self.number_at(index) for index in chosen]
        self._rows = self._sorted(self._rows)
        places = {row.number: place for place, row in enumerate(self._rows)}
        self.changePersistentIndexList(
            chosen,
            [
                self.index(places[number], index.column())
                for number, index in zip(numbers, chosen, strict=True)
            ],
        )
        self.layoutChanged.emit()

    def _sorted(self, rows: Iterable[_Row]) -> tuple[_Row, ...]:
        """In the chosen order; equal ones by their numbers."""
        column, order = self._order
        by_number = sorted(rows, key=lambda row: row.number)
        descends = order is Qt.SortOrder.DescendingOrder
        return tuple(sorted(by_number, key=COLUMNS[column].key, reverse=descends))

    @override
    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible_line(column.text(row))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
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
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        return None


def _alignment(column: _Column) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
