"""The most expensive operations of one device of a trace, as a table or as text."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpupanel.domain.number_text import count
from gpupanel.domain.trace import TracedDevice, TracedOperation, TraceRecord
from gpupanel.domain.trace_text import share_text, time_text, time_title
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_ROW_HEIGHT = 26
_OPERATION_WIDTH = 260


class TracedOperationsTable(TableView[TracedOperation]):
    """As high as its rows are: the page that holds several of them scrolls.

    Args:
        device: What it did.
        record: Of the trace.
        title: The device, for assistive technology.
        parent: Owns it.
    """

    def __init__(
        self, device: TracedDevice, record: TraceRecord, title: str, parent: QWidget | None = None
    ) -> None:
        model = TableModel(_columns(device, record), lambda each: (each.name, each.kind))
        super().__init__(model, "traced_operations", f"Operations of {title}", _ROW_HEIGHT, parent)
        model.set_rows(device.operations, keep_order=True)
        for place in range(3):
            self.resizeColumnToContents(place)
        self.setColumnWidth(3, _OPERATION_WIDTH)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows = _ROW_HEIGHT * len(device.operations)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows + 2)


def operations_text(device: TracedDevice, record: TraceRecord) -> str:
    """The same rows as text, a tab between the columns."""
    columns = _columns(device, record)
    lines = ["\t".join(column.title for column in columns)]
    lines += ["\t".join(column.text(each) for column in columns) for each in device.operations]
    return "\n".join(lines)


def _columns(device: TracedDevice, record: TraceRecord) -> tuple[Column[TracedOperation], ...]:
    return (
        Column(
            "Share",
            "Its part of all operations of the device",
            lambda each: share_text(each, device),
            is_number=True,
        ),
        Column(
            time_title(record),
            "Milliseconds, without operations inside it",
            lambda each: time_text(each, record),
            is_number=True,
        ),
        Column(
            "Times", "How often it was executed", lambda each: count(each.count), is_number=True
        ),
        Column(
            "Operation",
            "What it computes, as TensorFlow calls it",
            lambda each: each.kind,
            cell_tip=lambda each: each.kind,
        ),
        Column(
            "Name",
            "Its place in the model: its layer, or the gradient of it",
            lambda each: each.name,
            cell_tip=lambda each: each.name,
        ),
    )
