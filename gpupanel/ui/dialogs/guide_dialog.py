"""The guide inside the window: the Markdown of the documentation, as it is shipped."""

import re

from PySide6.QtCore import QByteArray, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QShowEvent, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui import resources
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import teach

_GUIDE = "guide.md"
_OUTSIDE = ("http", "https")
_DEEPEST = 2
"""Headings of this depth are in the list of contents."""


class GuideDialog(QDialog):
    """Stands beside the window: contents on the left, the page on the right.

    Args:
        parent: Stands behind it.
    """

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("guide_dialog")
        self.setWindowTitle("Guide")
        self._page, self._wanted = "", ""
        self._before: list[tuple[str, int]] = []
        self._text = _Page(self)
        self._text.setObjectName("guide_text")
        self._text.setAccessibleName("Guide")
        self._text.anchorClicked.connect(self._follow)
        self._contents = QListWidget(self)
        self._contents.setObjectName("guide_contents")
        teach(self._contents, "Contents", "The headings of this page")
        self._contents.setFixedWidth(_CONTENTS_WIDTH)
        self._contents.currentItemChanged.connect(self._go_to_item)
        self._back = QPushButton("&Back", self)
        self._back.setObjectName("guide_back")
        self._back.setToolTip("Returns to the page before (Alt+Left)")
        self._back.setShortcut("Alt+Left")
        self._back.clicked.connect(self._go_back)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self._back, QDialogButtonBox.ButtonRole.ResetRole)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._contents)
        row.addWidget(self._text, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(row, 1)
        layout.addWidget(buttons)
        resize_within_screen(self, 112 * GRID, 80 * GRID)
        self._show_page(_GUIDE)

    @property
    def page(self) -> str:
        """The name of the page that is shown."""
        return self._page

    def show_section(self, heading: str) -> None:
        """Show that section of the guide.

        Args:
            heading: As it stands in the guide.
        """
        self._show_page(_GUIDE)
        self._wanted = _anchor(heading)
        self._scroll_to(self._wanted)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        # Where a section stands is known once the page is as wide as it will be.
        super().showEvent(event)
        QTimer.singleShot(0, self, self._scroll_to_wanted)

    @Slot()
    def _scroll_to_wanted(self) -> None:
        if self._wanted:
            self._scroll_to(self._wanted)
            self._wanted = ""

    @Slot(QUrl)
    def _follow(self, link: QUrl) -> None:
        """Stay inside, or open the browser; a link to anything else does nothing."""
        if link.scheme() in _OUTSIDE:
            QDesktopServices.openUrl(link)
        elif not link.scheme() and not link.host():
            self._before.append((self._page, self._text.verticalScrollBar().value()))
            if link.path():
                self._show_page(link.path())
            if link.fragment():
                self._scroll_to(link.fragment())
            self._show_back()

    @Slot()
    def _go_back(self) -> None:
        if self._before:
            page, place = self._before.pop()
            self._show_page(page)
            self._text.verticalScrollBar().setValue(place)
        self._show_back()

    def _show_back(self) -> None:
        self._back.setEnabled(bool(self._before))

    def _show_page(self, name: str) -> None:
        path = resources.document(name)
        if path is None or name == self._page:
            return
        self._page = name
        text = _without_html(path.read_text(encoding="utf-8"))
        self._text.document().setMarkdown(text, _PLAIN)
        self._contents.clear()
        for block in self._headings():
            _set_apart(block)
            if block.blockFormat().headingLevel() <= _DEEPEST:
                item = QListWidgetItem(block.text(), self._contents)
                item.setData(Qt.ItemDataRole.UserRole, _anchor(block.text()))
        self._show_back()

    @Slot(QListWidgetItem)
    def _go_to_item(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._scroll_to(str(item.data(Qt.ItemDataRole.UserRole)))

    def _scroll_to(self, anchor: str) -> None:
        for block in self._headings():
            if _anchor(block.text()) == anchor:
                self._text.setTextCursor(QTextCursor(block))
                top = self._text.document().documentLayout().blockBoundingRect(block).top()
                self._text.verticalScrollBar().setValue(int(top))
                return

    def _headings(self) -> list[QTextBlock]:
        found = []
        block = self._text.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel():
                found.append(block)
            block = block.next()
        return found


_CONTENTS_WIDTH = 28 * GRID
_Feature = QTextDocument.MarkdownFeature
_PLAIN = _Feature.MarkdownDialectGitHub | _Feature.MarkdownNoHTML


def _without_html(markdown: str) -> str:
    """Lines of a cell one after the other: Qt hides all that follows a tag that is not closed."""
    text = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    return re.sub(r"(?<![.:])<br>", "; ", text).replace("<br>", " ")


def _set_apart(heading: QTextBlock) -> None:
    """Leave room above a section."""
    if heading.blockNumber():
        spaced = heading.blockFormat()
        spaced.setTopMargin(2 * GRID)
        QTextCursor(heading).setBlockFormat(spaced)


class _Page(QTextBrowser):
    """Shows text, and opens nothing by itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(2 * GRID)

    @override
    def loadResource(self, type: int, name: QUrl | str) -> QByteArray:
        # No file and no address that a page names is read.
        return QByteArray()


def _anchor(heading: str) -> str:
    """What links call a heading, as GitHub does it: "Your own data" is ``your-own-data``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
