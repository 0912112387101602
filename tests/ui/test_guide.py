"""The guide inside the window, and that it says what is so."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QDialog, QListWidget, QPushButton, QTextBrowser

from gpupanel.ui import resources
from gpupanel.ui.dialogs.guide_dialog import GuideDialog
from tests.fakes.person import Person
from tests.ui.accessible_tree import unspoken
from tests.ui.new_window import new_window

DOCS = Path(__file__).parents[2] / "resources" / "guide"
PAGES = ("guide.md", "profile.md", "exports.md")


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


def test_that_the_guide_goes_with_the_window(qtbot, window):
    window.window_actions.guide.trigger()
    guide = window.findChild(QDialog, "guide_dialog")
    window.close()
    assert not guide.isVisible()


def test_that_a_heading_in_the_contents_is_scrolled_to(qtbot, guide):
    contents = guide.findChild(QListWidget, "guide_contents")
    contents.setFocus()
    assert contents.item(0).text() == "Guide"
    (item,) = contents.findItems("Watching a run", Qt.MatchFlag.MatchExactly)
    contents.setCurrentItem(item)
    assert text(guide).verticalScrollBar().value() > 0
    assert top_line(guide) in ("", "Watching a run")


def test_that_links_stay_inside_and_back_returns(qtbot, guide):
    text(guide).anchorClicked.emit(QUrl("profile.md#training"))
    assert guide.page == "profile.md"
    assert text(guide).textCursor().block().text() == "[training]"
    back = guide.findChild(QPushButton, "guide_back")
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert guide.page == "guide.md"
    assert not back.isEnabled()


def test_that_only_addresses_of_the_web_leave_the_window(qtbot, guide, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    for link in (
        "file:///etc/passwd",
        "/etc/passwd",
        "../README.md",
        "//host/share",
        "javascript:x",
        "ftp://host/x",
        "mailto:a@b",
    ):
        text(guide).anchorClicked.emit(QUrl(link))
    assert opened == []
    assert guide.page == "guide.md"
    text(guide).anchorClicked.emit(QUrl("https://www.tensorflow.org/"))
    assert opened == ["https://www.tensorflow.org/"]


def test_that_no_file_that_a_page_names_is_read(guide, tmp_path):
    secret = tmp_path / "x.png"
    secret.write_bytes(b"not shown")
    text(guide).document().setMarkdown(f"![x]({secret.as_uri()})")
    assert bytes(text(guide).loadResource(2, QUrl.fromLocalFile(str(secret)))) == b""


@pytest.mark.parametrize("page", PAGES)
def test_that_all_of_a_page_is_shown(guide, page):
    """Qt hides all that follows a tag of HTML that is not closed."""
    guide._show_page(page)
    shown = text(guide).toPlainText()
    source = (DOCS / page).read_text(encoding="utf-8")
    words = set(re.findall(r"[A-Za-z]{5,}", re.sub(r"\]\([^)]*\)|<br>|<!--.*-->", " ", source)))
    assert len(words) > 100
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize("page", PAGES)
def test_that_links_lead_somewhere(guide, page):
    source = (DOCS / page).read_text(encoding="utf-8")
    for target, fragment in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", source):
        if target.startswith("http"):
            continue
        assert not target or resources.document(target) is not None, target
        if fragment:
            guide._show_page(target or page)
            guide._follow(QUrl(f"{target}#{fragment}"))
            anchored = text(guide).textCursor().block()
            assert anchored.blockFormat().headingLevel(), fragment


def test_that_the_keys_of_the_guide_are_those_of_the_window(window):
    source = (DOCS / "guide.md").read_text(encoding="utf-8")
    named = set(re.findall(r"Ctrl(?:\+Shift)?\+(?:[A-Z0-9][a-z]*|\.)", source))
    assert len(named) > 9
    keys = {each.shortcut().toString() for each in window.findChildren(QAction)}
    assert named - keys == set()


def test_that_the_menus_of_the_guide_are_those_of_the_window(window):
    source = (DOCS / "guide.md").read_text(encoding="utf-8")
    shown = {
        (menu.text().replace("&", ""), each.text().replace("&", "").removesuffix("…"))
        for menu in window.menuBar().actions()
        for each in menu.menu().actions()
    }
    named = set(re.findall(r"\*(\w+) > ([^*]+)\*", source))
    assert len(named) > 3
    assert named - shown == set()


@pytest.mark.parametrize("name", ["../README.md", "/etc/passwd", "nothing.md", "", "."])
def test_that_a_document_is_one_of_those_that_are_shipped(name):
    assert resources.document(name) is None
