"""What each column of a table holds and becomes."""

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.preview import ColumnPreview
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import wrapped

_ROW_HEIGHT = 24
_MOST_ROWS = 8
_WIDEST_NAME = 160

_COLUMNS: tuple[Column[ColumnPreview], ...] = (
    Column("Column", "The name of the column.", lambda column: visible_line(column.name)),
    Column("Type", "What the column holds.", lambda column: column.holds),
    Column(
        "Empty",
        "Cells that hold nothing.",
        lambda column: formatting.count(column.missing) if column.missing else "",
        is_number=True,
    ),
    Column(
        "Used as",
        "How the column is given to the model.",
        lambda column: visible_line(column.detail),
    ),
)


def _tip(column: ColumnPreview) -> str:
    empty = f", {formatting.count(column.missing)} empty" if column.missing else ""
    return wrapped(visible_line(f"{column.name}: {column.holds}{empty}. {column.detail}"))


class ColumnsView(TableView[ColumnPreview]):
    """A row for each column of a table."""

    def __init__(self, parent: QWidget | None = None) -> None:
        content = TableModel(_COLUMNS, lambda column: column.name, _tip)
        super().__init__(content, "table_columns", "Columns of the table", _ROW_HEIGHT, parent)
        self.setProperty("textSize", "small")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def setColumns(self, columns: Sequence[ColumnPreview]) -> None:
        """Shows others."""
        self.content.set_rows(columns)
        self.resizeColumnsToContents()
        self.setColumnWidth(0, min(self.columnWidth(0), _WIDEST_NAME))
        self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        rows = min(_MOST_ROWS, len(self.content.rows))
        header = self.horizontalHeader().sizeHint().height()
        return QSize(320, header + rows * _ROW_HEIGHT + 2 * self.frameWidth() + 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())
