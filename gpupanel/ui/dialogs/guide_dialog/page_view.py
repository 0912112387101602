"""A page of the guide, as it is read."""

import re
from typing import Final

from PySide6.QtCore import QByteArray, QUrl, Slot
from PySide6.QtGui import (
    QBrush,
    QImage,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget
from typing_extensions import override

from gpupanel.files import resources
from gpupanel.ui import theme
from gpupanel.ui.dialogs.guide_dialog.guide_pages import anchor, shown_markdown
from gpupanel.ui.theme import GRID

_Feature = QTextDocument.MarkdownFeature
_PLAIN: Final = _Feature.MarkdownDialectGitHub | _Feature.MarkdownNoHTML
_IMAGE: Final = re.compile(r"images/[a-z-]+\.png")
_LIGHT, _DARK = "-light.png", "-dark.png"
_OBJECT: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for an image."""
_FITS: Final = 90
"""Characters that stand beside each other on a page of the usual size."""
_NEARLY_ALL: Final = 99
"""Percent: a table as wide as the page stands a pixel beside it, with its lines."""
_LONG: Final = 40
"""A column of longer cells gets no more room than one of cells of that length."""
_MOST_MARKED: Final = 1000
"""Words that are marked: more than anybody reads."""


class PageView(QTextBrowser):
    """Shows a page, and opens nothing by itself.

    Args:
        parent: Holds it.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(2 * GRID)
        self._kept: str | int | None = None
        self.verticalScrollBar().rangeChanged.connect(self._keep_place)
        self.verticalScrollBar().actionTriggered.connect(self._leave_place)

    def show_page(self, name: str) -> None:
        """Show a page from its beginning, in the colours of the theme."""
        self._kept = None
        self.setExtraSelections([])
        document = self.document()
        document.clear()
        document.setMarkdown(shown_markdown(name), _PLAIN)
        edit = QTextCursor(document)
        edit.beginEditBlock()
        for block in _blocks(document):
            _dress(block)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                _dress_table(frame)
        edit.endEditBlock()
        self.setTextCursor(QTextCursor(document))
        self.verticalScrollBar().setValue(0)

    def scroll_to(self, wanted: str | int) -> None:
        """Bring a place to the top, where it stays until the person scrolls.

        Args:
            wanted: The anchor of a heading, or pixels from the beginning of the page.
        """
        if isinstance(wanted, str):
            found = self._heading(wanted)
            if found is None:
                return
            self.setTextCursor(QTextCursor(found))
        self._kept = wanted
        self._keep_place()

    def mark(self, words: list[str], wanted: str, text: str) -> None:
        """Mark words wherever they stand, and show a passage.

        Args:
            words: Without case.
            wanted: The anchor of the passage's section.
            text: How the passage begins.
        """
        self.scroll_to(wanted)
        marks: list[QTextEdit.ExtraSelection] = []
        color = theme.current().color("selection")
        for word in words:
            at = self.document().find(word)
            while not at.isNull() and len(marks) < _MOST_MARKED:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = at
                mark.format.setBackground(color)
                marks.append(mark)
                at = self.document().find(word, at)
        self.setExtraSelections(marks)
        block = self._passage(text)
        if block is not None:
            self.setTextCursor(QTextCursor(block))
            self._show_below_heading(block)

    @override
    def loadResource(self, type: int, name: QUrl | str) -> QByteArray | QImage:
        # Only what is shipped is read, and nothing else that a page names.
        wanted = name.toString() if isinstance(name, QUrl) else name
        if not _IMAGE.fullmatch(wanted):
            return QByteArray()
        if theme.current().name == "dark":
            wanted = wanted.replace(_LIGHT, _DARK)
        return QImage(str(resources.path("guide", *wanted.split("/"))))

    def headings(self) -> list[QTextBlock]:
        """The headings of the page, in order."""
        found = _blocks(self.document())
        return [block for block in found if block.blockFormat().headingLevel()]

    def _heading(self, wanted: str) -> QTextBlock | None:
        return next((each for each in self.headings() if anchor(each.text()) == wanted), None)

    def _passage(self, text: str) -> QTextBlock | None:
        """The block below the cursor that a passage begins with."""
        begins = text.split(" · ")[0]
        block = self.textCursor().block()
        while block.isValid():
            if block.text().strip().startswith(begins):
                return block
            block = block.next()
        return None

    @Slot()
    def _keep_place(self) -> None:
        """Scroll again where the page became longer, or is broken anew by another width.

        Qt lays a page out piece by piece: at first it ends too early to be scrolled that far.
        """
        if isinstance(self._kept, int):
            self.verticalScrollBar().setValue(self._kept)
        elif self._kept is not None:
            found = self._heading(self._kept)
            if found is not None:
                self.verticalScrollBar().setValue(int(self._top_of(found)))

    @Slot()
    def _leave_place(self) -> None:
        self._kept = None

    def _show_below_heading(self, block: QTextBlock) -> None:
        """Scroll on where the passage is further down than its heading leaves in view."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = self._top_of(block)
        if top > bar.value() + height - 8 * GRID:
            self._leave_place()
            bar.setValue(int(top - height / 3))

    def _top_of(self, block: QTextBlock) -> float:
        return self.document().documentLayout().blockBoundingRect(block).top()


def _blocks(document: QTextDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _dress(block: QTextBlock) -> None:
    """Leave room above a section, and set code apart."""
    dressed = block.blockFormat()
    if dressed.headingLevel() and block.blockNumber():
        dressed.setTopMargin(2 * GRID)
    elif _OBJECT in block.text():
        dressed.setTopMargin(GRID)
        dressed.setBottomMargin(GRID)
    elif _is_code(dressed):
        dressed.setBackground(theme.current().color("raised"))
        dressed.setLeftMargin(GRID)
        dressed.setRightMargin(GRID)
        dressed.setNonBreakableLines(False)
        # Of a block of code the first line and the last one leave room to what is around.
        dressed.setTopMargin(0 if _is_code(block.previous().blockFormat()) else GRID / 2)
        dressed.setBottomMargin(0 if _is_code(block.next().blockFormat()) else GRID)
    else:
        return
    QTextCursor(block).setBlockFormat(dressed)


def _is_code(block: QTextBlockFormat) -> bool:
    return block.hasProperty(QTextFormat.Property.BlockCodeFence)


def _dress_table(table: QTextTable) -> None:
    """Lines in the colour of borders, room in the cells, and a head that stands out."""
    colors = theme.current()
    dressed = table.format().toTableFormat()
    dressed.setBorderCollapse(True)
    dressed.setBorder(1)
    dressed.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    dressed.setBorderBrush(QBrush(colors.color("border")))
    dressed.setCellPadding(GRID / 2)
    dressed.setCellSpacing(0)
    dressed.setTopMargin(GRID / 2)
    dressed.setBottomMargin(GRID)
    widths = _column_widths(table)
    if widths:
        dressed.setWidth(QTextLength(QTextLength.Type.PercentageLength, _NEARLY_ALL))
        dressed.setColumnWidthConstraints(
            [QTextLength(QTextLength.Type.PercentageLength, each) for each in widths]
        )
    table.setFormat(dressed)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        head = cell.format()
        head.setBackground(QBrush(colors.color("raised")))
        cell.setFormat(head)


def _column_widths(table: QTextTable) -> list[float]:
    """Percent of the page for each column of a table that has to be broken; none of others.

    Qt makes all columns equally wide where they do not fit, and breaks words for that.
    """
    texts = [
        [_cell_text(table, row, column) for row in range(table.rows())]
        for column in range(table.columns())
    ]
    if sum(max(map(len, column)) for column in texts) < _FITS:
        return []
    words = [
        max((len(word) for text in column for word in text.split()), default=1) for column in texts
    ]
    means = [sum(map(len, column)) / len(column) for column in texts]
    wanted = [
        max(1.25 * word + 2, min(mean, _LONG)) for word, mean in zip(words, means, strict=True)
    ]
    return [100 * each / sum(wanted) for each in wanted]


def _cell_text(table: QTextTable, row: int, column: int) -> str:
    cell = table.cellAt(row, column)
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()
