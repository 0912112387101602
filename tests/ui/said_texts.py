"""Every text of a window that Qt may take for rich text, and what has it."""

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGraphicsItem,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.StatusTipRole,
    Qt.ItemDataRole.WhatsThisRole,
)
_MOST_ROWS = 50
TAG = "<img src=FIFO>"
"""Qt would load that picture, and wait for ever."""
SAID = ("&lt;img src=FIFO&gt;", TAG)
"""As rich text shows it as it is, and as plain text does."""


def unsafe_texts(window: QWidget) -> list[tuple[str, str]]:
    """What has a name in it that Qt would take for rich text."""
    return [each for each in said_by_widgets(window) if TAG in each[1]]


def said_by_widgets(window: QWidget) -> Iterator[tuple[str, str]]:
    """Texts that may be rich text; a tag of which must not be in them as it is.

    Of a document that was made of such a text already: the pictures that it names.
    """
    for menu in window.findChildren(QMenu):
        menu.aboutToShow.emit()
    for widget in (window, *window.findChildren(QWidget)):
        where = f"{type(widget).__name__} {widget.objectName()}"
        for text in (widget.toolTip(), widget.statusTip(), widget.whatsThis()):
            yield where, text
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            yield where, widget.text()
        if isinstance(widget, QMessageBox):
            for label in widget.findChildren(QLabel):
                if label.textFormat() is not Qt.TextFormat.PlainText:
                    yield where, label.text()
        if isinstance(widget, QComboBox):
            yield from said_by_model(widget.model(), where)
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from said_by_model(widget.model(), where)
        if isinstance(widget, QTextEdit | QPlainTextEdit):
            yield from named_in_document(widget.document(), where)
        if isinstance(widget, QGraphicsView) and widget.scene() is not None:
            for item in widget.scene().items():
                yield from said_by_item(item, where)
    for action in window.findChildren(QAction):
        for text in (action.toolTip(), action.statusTip(), action.whatsThis()):
            yield f"action {action.objectName()} {action.text()}", text


def said_by_model(model: QAbstractItemModel, where: str) -> Iterator[tuple[str, str]]:
    # A list's is none of its public parts.
    is_list = isinstance(model, QAbstractListModel)
    columns = 1 if is_list else model.columnCount(QModelIndex())
    rows = model.rowCount(QModelIndex())
    for role in _ROLES:
        for column in range(columns):
            title = model.headerData(column, Qt.Orientation.Horizontal, role)
            yield f"{where}, title {column}", str(title or "")
            for row in range(min(rows, _MOST_ROWS)):
                yield f"{where}, {row}, {column}", str(model.index(row, column).data(role) or "")


def said_by_item(item: QGraphicsItem, where: str) -> Iterator[tuple[str, str]]:
    yield f"{where}, {type(item).__name__}", item.toolTip()
    if isinstance(item, QGraphicsTextItem):
        yield from named_in_document(item.document(), f"{where}, {type(item).__name__}")


def named_in_document(document: QTextDocument, where: str) -> Iterator[tuple[str, str]]:
    """The pictures of a document, as the tags that they were."""
    block = document.begin()
    while block.isValid():
        parts = block.begin()
        while not parts.atEnd():
            picture = parts.fragment().charFormat()
            if picture.isImageFormat():
                yield where, f"<img src={picture.toImageFormat().name()}>"
            parts += 1
        block = block.next()
