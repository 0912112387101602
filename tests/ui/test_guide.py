"""The guide inside the window, and that it says what is so."""

import re

import pytest
from PySide6.QtCore import QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QShortcut, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QPushButton,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItemIterator,
)

from gpupanel.files import resources
from gpupanel.ui import theme
from gpupanel.ui.bindings.menu_binding import _SECTIONS
from gpupanel.ui.dialogs.guide_dialog import GuideDialog
from gpupanel.ui.dialogs.guide_dialog.guide_pages import Passage, anchor, guide_pages
from gpupanel.ui.dialogs.guide_dialog.guide_search import found_passages
from tests.fakes.person import Person
from tests.guide.pages import PAGES, headings_of, source_of
from tests.guide.pages import anchor as anchor_on_a_site
from tests.ui.accessible_tree import unspoken
from tests.ui.new_window import new_window

WINDOW = "window.md"


@pytest.fixture
def guide(qtbot):
    guide = GuideDialog(None)
    qtbot.addWidget(guide)
    with qtbot.waitExposed(guide):
        guide.show()
    yield guide
    guide.close()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, preview_without_process):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()


def text(guide) -> QTextBrowser:
    return guide.findChild(QTextBrowser, "guide_text")


def top_line(guide) -> str:
    return text(guide).cursorForPosition(text(guide).viewport().rect().topLeft()).block().text()


@pytest.mark.parametrize(
    ("page", "heading"), [(0, "Preparing a session"), (1, "Watching a run"), (2, "Past runs")]
)
def test_that_f1_opens_the_guide_at_the_page_that_is_shown(qtbot, window, page, heading):
    window.tabs.setCurrentIndex(page)
    qtbot.keyClick(window, Qt.Key.Key_F1)
    guide = window.findChild(QDialog, "guide_dialog")
    qtbot.waitUntil(guide.isVisible)
    assert text(guide).textCursor().block().text() == heading
    bar = text(guide).verticalScrollBar()
    # The last sections cannot stand at the very top.
    qtbot.waitUntil(
        lambda: top_line(guide) in ("", heading) or bar.value() == bar.maximum(), timeout=5_000
    )
    assert text(guide).viewport().rect().contains(text(guide).cursorRect())
    assert not guide.isModal()
    assert unspoken(guide) == []


def test_that_a_heading_stays_at_the_top_where_the_page_is_broken_anew(qtbot, guide):
    guide.show_section("window.md", "Past runs")
    guide.resize(1300, 500)
    guide.show()
    bar = text(guide).verticalScrollBar()
    for width, height in ((700, 400), (1200, 450), (900, 700)):
        most = bar.maximum()
        guide.resize(width, height)
        qtbot.waitUntil(lambda most=most: bar.maximum() != most)
        qtbot.waitUntil(lambda: top_line(guide) == "Past runs" or bar.value() == bar.maximum())


def test_that_a_page_that_was_scrolled_does_not_jump_back(qtbot, guide):
    guide.show_section("window.md", "Watching a run")
    guide.show()
    qtbot.waitUntil(lambda: top_line(guide) == "Watching a run")
    qtbot.keyClick(text(guide), Qt.Key.Key_PageUp)
    bar = text(guide).verticalScrollBar()
    most = bar.maximum()
    guide.resize(1200, 500)
    qtbot.waitUntil(lambda: bar.maximum() != most)
    qtbot.wait(50)
    assert top_line(guide) != "Watching a run"


def test_that_the_guide_goes_with_the_window(qtbot, window):
    window.window_actions.guide.trigger()
    guide = window.findChild(QDialog, "guide_dialog")
    window.close()
    assert not guide.isVisible()


def test_that_every_section_that_f1_opens_is_there():
    for page, heading in _SECTIONS:
        assert (2, heading) in headings_of(source_of(page))


def contents(guide) -> QTreeWidget:
    return guide.findChild(QTreeWidget, "guide_contents")


def item_called(guide, title):
    flags = Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive
    (item,) = contents(guide).findItems(title, flags)
    return item


def test_that_the_contents_have_every_page_with_its_headings(guide):
    shown = [contents(guide).topLevelItem(n) for n in range(contents(guide).topLevelItemCount())]
    assert [item.text(0) for item in shown] == [page.title for page in guide_pages()]
    assert sorted(page.name for page in guide_pages()) == PAGES
    for page, item in zip(guide_pages(), shown, strict=True):
        inner = [item.child(n).text(0) for n in range(item.childCount())]
        headings = [words for level, words in headings_of(source_of(page.name)) if level == 2]
        assert inner == headings


def test_that_a_heading_in_the_contents_is_scrolled_to(guide):
    contents(guide).setFocus()
    contents(guide).setCurrentItem(item_called(guide, "Watching a run"))
    assert guide.page == WINDOW
    assert text(guide).verticalScrollBar().value() > 0
    assert top_line(guide) in ("", "Watching a run")


def test_that_every_item_of_the_contents_leads_to_its_heading(guide):
    each = QTreeWidgetItemIterator(contents(guide))
    count = 0
    while (item := each.value()) is not None:
        contents(guide).setCurrentItem(item)
        block = text(guide).textCursor().block()
        assert block.text() == item.text(0)
        count += 1
        each += 1
    assert count > 120


def test_that_the_contents_follow_the_page(guide):
    text(guide).anchorClicked.emit(QUrl("memory.md#when-it-does-not-fit"))
    current = contents(guide).currentItem()
    assert current.text(0) == "Memory explained"
    assert current.isExpanded()
    assert not item_called(guide, "Install").isExpanded()


def test_that_links_stay_inside_and_back_returns(qtbot, guide):
    text(guide).anchorClicked.emit(QUrl("profile.md#training"))
    assert guide.page == "profile.md"
    assert text(guide).textCursor().block().text() == "[training]"
    back = guide.findChild(QPushButton, "guide_back")
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert guide.page == "index.md"
    assert not back.isEnabled()


def search(guide) -> QLineEdit:
    return guide.findChild(QLineEdit, "guide_search")


def results(guide) -> QListWidget:
    return guide.findChild(QListWidget, "guide_results")


def shown_results(guide) -> list[str]:
    return [results(guide).item(n).text() for n in range(results(guide).count())]


def test_that_a_search_finds_page_heading_and_line_and_enter_goes_there(qtbot, guide):
    qtbot.keyClick(guide, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert search(guide).hasFocus()
    qtbot.keyClicks(search(guide), "pcie LANES connected")
    assert not contents(guide).isVisible()
    found = shown_results(guide)
    assert found[0] == (
        "Problems that are measured › slow_pcie_link\n"  # noqa: RUF001 - between a page and its heading
        "A GPU is connected by few lanes or an old generation of PCI Express."
    )
    qtbot.keyClick(search(guide), Qt.Key.Key_Return)
    assert guide.page == "problems-measured.md"
    assert text(guide).textCursor().block().text().startswith("A GPU is connected by few lanes")
    assert text(guide).viewport().rect().contains(text(guide).cursorRect())
    marked = {each.cursor.selectedText().casefold() for each in text(guide).extraSelections()}
    assert marked == {"pcie", "lanes", "connected"}
    assert guide.isVisible()


def test_that_results_are_gone_through_by_keys_and_back_returns(qtbot, guide):
    search(guide).setFocus()
    qtbot.keyClicks(search(guide), "checkpoint")
    qtbot.keyClick(search(guide), Qt.Key.Key_Down)
    assert results(guide).hasFocus()
    assert results(guide).currentRow() == 0
    qtbot.keyClick(results(guide), Qt.Key.Key_Down)
    assert guide.page == "index.md"  # looking through them leads nowhere
    qtbot.keyClick(results(guide), Qt.Key.Key_Return)
    assert guide.page != "index.md"
    guide.findChild(QPushButton, "guide_back").click()
    assert guide.page == "index.md"


def test_that_every_result_of_a_search_is_brought_into_view(guide):
    search(guide).setText("memory growth")
    assert results(guide).count() > 10
    for number in range(results(guide).count()):
        item = results(guide).item(number)
        results(guide).itemActivated.emit(item)
        page, heading, line, is_heading = item.data(Qt.ItemDataRole.UserRole)
        assert guide.page == page
        at = text(guide).textCursor()
        assert line.startswith(at.block().text()[:20]), (line, at.block().text())
        assert is_heading == (line == heading)
        assert text(guide).viewport().rect().contains(text(guide).cursorRect())


def test_that_escape_leaves_the_search_before_the_guide(qtbot, guide):
    search(guide).setFocus()
    qtbot.keyClicks(search(guide), "no such words anywhere xyzzy")
    assert shown_results(guide) == ["Nothing is found by these words."]
    qtbot.keyClick(search(guide), Qt.Key.Key_Return)
    assert guide.page == "index.md"
    qtbot.keyClick(search(guide), Qt.Key.Key_Escape)
    assert guide.isVisible()
    assert contents(guide).isVisible()
    qtbot.keyClick(search(guide), Qt.Key.Key_Escape)
    assert not guide.isVisible()


def test_that_a_word_of_every_line_says_how_many_more_there_are(guide):
    search(guide).setText("e")
    assert results(guide).count() == 101
    assert re.fullmatch(r"[\d,]+ more: another word finds fewer\.", shown_results(guide)[-1])
    search(guide).setText("  ")
    assert contents(guide).isVisible()


def test_that_a_search_has_names_for_screen_readers(guide):
    search(guide).setText("memory")
    assert unspoken(guide) == []


def test_that_words_may_be_in_the_heading_and_in_the_line():
    found = found_passages(guide_pages(), "loss_not_finite learning rate lower")
    assert [each.heading for each in found][:2] == ["loss_not_finite", "The loss is NaN"]
    assert found_passages(guide_pages(), "") == []
    assert found_passages(guide_pages(), "Ω€") == []


def test_that_headings_are_found_first():
    found = found_passages(guide_pages(), "queue")
    kinds = [each.is_heading for each in found]
    assert kinds == sorted(kinds, reverse=True)
    assert found[0] == Passage("queue-and-sweeps.md", "Queue and sweeps", "Queue and sweeps", True)


@pytest.mark.parametrize("page", PAGES)
def test_that_a_passage_is_what_is_read(page):
    (found,) = [each for each in guide_pages() if each.name == page]
    for passage in found.passages:
        assert passage.text
        assert not re.search(r"\]\(|\*\*|^\||<br>|<!--", passage.text)


def test_that_anchors_are_those_of_a_site():
    for page in guide_pages():
        for level, words in headings_of(source_of(page.name)):
            assert anchor(words) == anchor_on_a_site(words), level


def test_that_only_addresses_of_the_web_leave_the_window(qtbot, guide, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    for link in (
        "file:///etc/passwd",
        "/etc/passwd",
        "../README.md",
        "nothing.md",
        "//host/share",
        "javascript:x",
        "ftp://host/x",
        "mailto:a@b",
    ):
        text(guide).anchorClicked.emit(QUrl(link))
    assert opened == []
    assert guide.page == "index.md"
    text(guide).anchorClicked.emit(QUrl("https://www.tensorflow.org/"))
    assert opened == ["https://www.tensorflow.org/"]


_IMAGE = QTextDocument.ResourceType.ImageResource.value


@pytest.mark.parametrize(
    "name", ["images/../../x.png", "images/x.svg", "/x.png", "images//x.png", "images/%2e%2e/x.png"]
)
def test_that_no_file_that_a_page_names_is_read(guide, tmp_path, name):
    secret = tmp_path / "x.png"
    secret.write_bytes(b"not shown")
    text(guide).document().setMarkdown(f"![x]({secret.as_uri()})")
    for url in (QUrl.fromLocalFile(str(secret)), QUrl(name), name):
        assert bytes(text(guide).loadResource(_IMAGE, url)) == b""


@pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=lambda each: each.name)
def test_that_images_of_the_guide_are_shown_in_the_colours_of_the_theme(qapp, guide, colors):
    before = theme.current()
    theme.show(qapp, colors)
    try:
        image = text(guide).loadResource(_IMAGE, QUrl("images/memory-bars-light.png"))
        shown = image.pixelColor(0, 0).lightness()
        assert (shown < 128) == (colors is theme.DARK)
        guide._show_page("memory.md")
        color = text(guide).palette().base().color().lightness()
        assert (color < 128) == (colors is theme.DARK)
    finally:
        theme.show(qapp, before)


def test_that_a_change_of_theme_keeps_the_place(qapp, guide):
    before = theme.current()
    text(guide).anchorClicked.emit(QUrl("problems-measured.md#cpu_quota"))
    place = text(guide).verticalScrollBar().value()
    assert place > 1000
    try:
        theme.show(qapp, theme.DARK if before is theme.LIGHT else theme.LIGHT)
        assert guide.page == "problems-measured.md"
        assert text(guide).verticalScrollBar().value() == place
    finally:
        theme.show(qapp, before)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "size",
    [
        (900, 640),
        *(pytest.param(size, marks=pytest.mark.slow) for size in ((1100, 700), (1500, 950))),
    ],
)
def test_that_a_page_fits_the_width_of_the_guide(qapp, guide, page, size):
    guide.resize(*size)
    guide._show_page(page)
    qapp.processEvents()
    assert text(guide).horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("page", PAGES)
def test_that_all_of_a_page_is_shown(guide, page):
    """Qt hides all that follows a tag of HTML that is not closed."""
    guide._show_page(page)
    shown = text(guide).toPlainText()
    source = re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<br>|<!--.*-->", " ", source_of(page))
    source = re.sub(r"^```\w+$", "", source, flags=re.MULTILINE)
    words = set(re.findall(r"[A-Za-z]{5,}", source))
    assert len(words) > 60
    assert [word for word in words if word not in shown] == []


def test_that_the_keys_of_the_guide_are_those_of_the_window(window):
    source = "".join(map(source_of, PAGES))
    named = set(re.findall(r"Ctrl(?:\+Shift)?\+(?:[A-Z0-9][a-z]*|\.)", source))
    assert len(named) > 9
    # Ctrl+C is the terminal's; Ctrl+F searches and Ctrl+V pastes where the focus is.
    keys = {each.shortcut().toString() for each in window.findChildren(QAction)}
    keys |= {each.key().toString() for each in window.findChildren(QShortcut)}
    assert named - keys <= {"Ctrl+C", "Ctrl+F"}


def test_that_the_menus_of_the_guide_are_those_of_the_window(window):
    source = "".join(map(source_of, PAGES))
    shown = {
        (menu.text().replace("&", ""), each.text().replace("&", "").removesuffix("…"))
        for menu in window.menuBar().actions()
        for each in menu.menu().actions()
    }
    named = set(re.findall(r"\*(\w+) > ([^*]+)\*", source))
    assert len(named) > 6
    assert named - shown == set()


@pytest.mark.parametrize("name", ["../README.md", "/etc/passwd", "nothing.md", "", "."])
def test_that_a_document_is_one_of_those_that_are_shipped(name):
    assert resources.document(name) is None


def test_that_a_file_that_is_pasted_into_the_search_is_not_searched_for_word_by_word(guide):
    search = guide.findChild(QLineEdit, "guide_search")
    search.setText("a " * 15_000)
    assert len(search.text()) == 200
    assert guide.findChild(QListWidget, "guide_results").count() > 1
