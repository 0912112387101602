"""The letters by which menus and buttons are reached from the keyboard."""

from PySide6.QtWidgets import QPushButton

from gpupanel.ui.menus.window_actions import MENU_LETTERS
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.panels.welcome_panel import WelcomePanel
from gpupanel.ui.run_state import ButtonStates


def test_that_no_button_of_the_bar_takes_a_letter_from_the_page_below(qtbot):
    bars = ProfileBar(), RunBar()
    for bar in bars:
        qtbot.addWidget(bar)
    bars[1].setButtons(ButtonStates(start=True, stop=True, end_now=True, suspend=True), 0)
    buttons = [button for bar in bars for button in bar.findChildren(QPushButton)]
    assert len(buttons) == 5
    assert [each.text() for each in buttons if "&" in each.text()] == []


def test_that_the_letters_of_the_first_page_reach_nothing_else(qtbot):
    page = WelcomePanel()
    qtbot.addWidget(page)
    letters = [
        each.text().partition("&")[2][0].lower()
        for each in page.findChildren(QPushButton)
        if "&" in each.text()
    ]
    assert len(letters) == len(set(letters)) == 5
    assert not set(letters) & set(MENU_LETTERS)
