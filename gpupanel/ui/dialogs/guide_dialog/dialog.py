"""The guide beside the window: pages and headings, a search, and the page that is read."""

from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.dialogs.guide_dialog.guide_pages import FIRST, Passage, anchor, guide_pages
from gpupanel.ui.dialogs.guide_dialog.guide_search import found_passages, words_of
from gpupanel.ui.dialogs.guide_dialog.page_view import PageView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import teach, wrapped

_OUTSIDE: Final = ("http", "https")
_CONTENTS_WIDTH: Final = 36 * GRID
_MOST_RESULTS: Final = 100
_LONGEST: Final = 160
"""Characters of a passage that a result shows."""
_LONGEST_SEARCH: Final = 200
"""Characters: a file that is pasted by mistake would be searched for word by word."""
_PLACE = Qt.ItemDataRole.UserRole
"""The role of where an item leads."""


class _Place(NamedTuple):
    """Where somebody was, to return there."""

    page: str
    scrolled: int


class GuideDialog(QDialog):
    """Stands beside the window, which can be used meanwhile.

    Args:
        parent: Stands behind it.
    """

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("guide_dialog")
        self.setWindowTitle("Guide")
        self._page = ""
        self._before: list[_Place] = []
        self._pages = guide_pages()
        self._text = PageView(self)
        self._text.setObjectName("guide_text")
        self._text.setAccessibleName("Guide")
        self._text.anchorClicked.connect(self._follow)
        self._search = self._make_search()
        self._contents = self._make_contents()
        self._results = self._make_results()
        self._left = QStackedWidget(self)
        self._left.addWidget(self._contents)
        self._left.addWidget(self._results)
        self._lay_out()
        theme.changes.changed.connect(self._show_again)
        resize_within_screen(self, 138 * GRID, 92 * GRID)
        self._show_page(FIRST)

    def _make_search(self) -> QLineEdit:
        search = QLineEdit(self)
        search.setObjectName("guide_search")
        search.setPlaceholderText("Search all pages (Ctrl+F)")
        search.setClearButtonEnabled(True)
        search.setMaxLength(_LONGEST_SEARCH)
        teach(search, "Search", "Words that occur together anywhere in the guide")
        search.textChanged.connect(self._show_results)
        search.returnPressed.connect(self._go_to_first_result)
        search.installEventFilter(self)
        QShortcut(QKeySequence.StandardKey.Find, self, self._begin_search)
        return search

    def _make_contents(self) -> QTreeWidget:
        contents = QTreeWidget(self)
        contents.setObjectName("guide_contents")
        contents.setHeaderHidden(True)
        contents.setUniformRowHeights(True)
        teach(contents, "Contents", "The pages of the guide, and the headings of each")
        for page in self._pages:
            item = _contents_item(contents, page.title, page.name, "")
            for heading in page.headings:
                _contents_item(item, heading, page.name, anchor(heading))
        contents.currentItemChanged.connect(self._go_to_item)
        return contents

    def _make_results(self) -> QListWidget:
        results = QListWidget(self)
        results.setObjectName("guide_results")
        results.setWordWrap(True)
        results.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        teach(results, "Found", "Where the words occur: page, heading and line. Enter goes there.")
        results.itemActivated.connect(self._go_to_result)
        results.itemClicked.connect(self._go_to_result)
        return results

    def _lay_out(self) -> None:
        self._back = QPushButton("&Back", self)
        self._back.setObjectName("guide_back")
        self._back.setToolTip("Returns to where you were before (Alt+Left)")
        self._back.setShortcut("Alt+Left")
        self._back.clicked.connect(self._go_back)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self._back, QDialogButtonBox.ButtonRole.ResetRole)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            # Enter in the search goes to a result.
            if isinstance(button, QPushButton):
                button.setAutoDefault(False)
        left = QVBoxLayout()
        left.setSpacing(GRID)
        left.addWidget(self._search)
        left.addWidget(self._left, 1)
        self._left.setFixedWidth(_CONTENTS_WIDTH)
        self._search.setFixedWidth(_CONTENTS_WIDTH)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addLayout(left)
        row.addWidget(self._text, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(row, 1)
        layout.addWidget(buttons)

    @property
    def page(self) -> str:
        """The name of the page that is shown."""
        return self._page

    def show_section(self, page: str, heading: str) -> None:
        """Show a section.

        Args:
            page: Its file.
            heading: As it stands there.
        """
        self._show_page(page)
        self._text.scroll_to(anchor(heading))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """From the search Down goes into what was found, and Escape leaves the search first."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = event.key()
            if key == Qt.Key.Key_Down:
                self._enter_list()
                return True
            if key == Qt.Key.Key_Escape and self._search.text():
                self._search.clear()
                return True
        return super().eventFilter(watched, event)

    def _enter_list(self) -> None:
        if self._left.currentWidget() is self._results:
            self._results.setCurrentRow(max(0, self._results.currentRow()))
            self._results.setFocus()
        else:
            self._contents.setFocus()

    @Slot()
    def _begin_search(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    @Slot(QUrl)
    def _follow(self, link: QUrl) -> None:
        """Stay inside, or open the browser; a link to anything else does nothing."""
        if link.scheme() in _OUTSIDE:
            QDesktopServices.openUrl(link)
        elif not link.scheme() and not link.host():
            self._go_to(link.path(), link.fragment())

    def _go_to(self, page: str, fragment: str) -> None:
        """Show a place, and remember the one before."""
        self._remember()
        if page:
            self._show_page(page)
        if fragment:
            self._text.scroll_to(fragment)
        self._show_back()

    def _remember(self) -> None:
        place = _Place(self._page, self._text.verticalScrollBar().value())
        if not self._before or self._before[-1] != place:
            self._before.append(place)

    @Slot()
    def _go_back(self) -> None:
        if self._before:
            place = self._before.pop()
            self._show_page(place.page)
            self._text.scroll_to(place.scrolled)
        self._show_back()

    def _show_back(self) -> None:
        self._back.setEnabled(bool(self._before))

    def _show_page(self, name: str) -> None:
        if name == self._page or name not in [page.name for page in self._pages]:
            return
        self._page = name
        self._text.show_page(name)
        self._show_in_contents()
        self._show_back()

    @Slot()
    def _show_again(self) -> None:
        """The same place in the colours of another theme."""
        scrolled = self._text.verticalScrollBar().value()
        self._text.show_page(self._page)
        self._text.scroll_to(scrolled)

    def _show_in_contents(self) -> None:
        """Mark the page, and open its headings."""
        current = self._contents.currentItem()
        if current is not None and current.data(0, _PLACE)[0] == self._page:
            return
        self._contents.blockSignals(True)  # it is shown already
        for place in range(self._contents.topLevelItemCount()):
            item = self._contents.topLevelItem(place)
            if item is not None:
                is_shown = item.data(0, _PLACE)[0] == self._page
                item.setExpanded(is_shown)
                if is_shown:
                    self._contents.setCurrentItem(item)
                    self._contents.scrollToItem(item, QTreeWidget.ScrollHint.PositionAtTop)
        self._contents.blockSignals(False)

    @Slot(QTreeWidgetItem)
    def _go_to_item(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            page, fragment = item.data(0, _PLACE)
            self._go_to(page, fragment)
            if not fragment:
                self._text.scroll_to(0)

    @Slot(str)
    def _show_results(self, wanted: str) -> None:
        found = found_passages(self._pages, wanted)
        titles = {page.name: page.title for page in self._pages}
        self._results.clear()
        for passage in found[:_MOST_RESULTS]:
            item = QListWidgetItem(_result_text(passage, titles[passage.page]), self._results)
            item.setData(_PLACE, passage)
        more = len(found) - _MOST_RESULTS
        if more > 0:
            self._add_note(f"{more:,} more: another word finds fewer.")
        if not found:
            self._add_note("Nothing is found by these words.")
        is_searched = bool(words_of(wanted))
        self._left.setCurrentWidget(self._results if is_searched else self._contents)

    def _add_note(self, text: str) -> None:
        note = QListWidgetItem(text, self._results)
        note.setFlags(Qt.ItemFlag.NoItemFlags)

    @Slot()
    def _go_to_first_result(self) -> None:
        if self._left.currentWidget() is self._results:
            self._results.setCurrentRow(0)
            self._go_to_result(self._results.item(0))

    @Slot(QListWidgetItem)
    def _go_to_result(self, item: QListWidgetItem) -> None:
        passage = item.data(_PLACE)
        if passage is None:
            return
        page, heading, text, _ = passage
        self._remember()
        self._show_page(page)
        self._text.mark(words_of(self._search.text()), anchor(heading), text)
        self._show_back()


def _contents_item(
    parent: QTreeWidget | QTreeWidgetItem, text: str, page: str, fragment: str
) -> QTreeWidgetItem:
    item = QTreeWidgetItem(parent, [text])
    item.setData(0, _PLACE, (page, fragment))
    item.setToolTip(0, wrapped(text))
    item.setSizeHint(0, QSize(0, 3 * GRID))
    return item


def _result_text(passage: Passage, title: str) -> str:
    """Page and heading, and below them the line."""
    place = title if passage.heading == title else f"{title} › {passage.heading}"  # noqa: RUF001 - between a page and its heading
    if passage.is_heading:
        return place
    line = passage.text
    return f"{place}\n{line if len(line) <= _LONGEST else line[: _LONGEST - 1] + '…'}"
