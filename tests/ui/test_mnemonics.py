"""The letters by which the rows of a form are reached from the keyboard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QPushButton

from gpupanel.ui.forms.value_form import with_mnemonics
from gpupanel.ui.menus.window_actions import MENU_LETTERS
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.panels.welcome_panel import WelcomePanel
from gpupanel.ui.run_state import ButtonStates

TITLES = st.lists(st.text(st.characters(codec="ascii", exclude_characters="&"), max_size=12))


@pytest.mark.parametrize(
    ("titles", "shown"),
    [
        (["Batch", "Seed"], ["&Batch", "&Seed"]),
        (["Seed", "Shuffle all images"], ["&Seed", "Shuffle &all images"]),
        (["Ab", "Ba", "ab", "Abd"], ["&Ab", "&Ba", "ab", "Ab&d"]),
        (["Aa", "aA"], ["&Aa", "aA"]),
        (["3x3 tiles"], ["3x3 &tiles"]),
        (["", "12"], ["", "12"]),
        ([], []),
    ],
)
def test_that_the_first_letter_of_a_word_is_preferred_and_none_is_given_twice(titles, shown):
    assert with_mnemonics(titles) == shown


def test_that_letters_that_something_else_has_are_left_to_it():
    assert with_mnemonics(["Kind", "Data set"], taken="Dk") == ["K&ind", "Data &set"]


def test_that_the_letter_of_the_copy_buttons_is_left_to_them():
    assert with_mnemonics(["Copies", "Classes"]) == ["C&opies", "C&lasses"]


def test_that_the_letters_of_the_menus_are_left_to_them():
    assert with_mnemonics(["Epochs", "Head", "Fever"]) == ["E&pochs", "He&ad", "Fever"]


@given(titles=TITLES, taken=st.text("abcdefg", max_size=3))
def test_that_titles_stay_as_they_are_and_letters_differ(titles, taken):
    shown = with_mnemonics(titles, taken)
    assert [each.replace("&", "") for each in shown] == titles
    letters = [each.partition("&")[2][:1].lower() for each in shown if "&" in each]
    assert len(set(letters)) == len(letters)
    assert not set(letters) & set(taken)
    assert all(letter.isalpha() for letter in letters)


def test_that_no_button_of_the_bar_takes_a_letter_from_the_page_below(qtbot):
    bars = ProfileBar(), RunBar()
    for bar in bars:
        qtbot.addWidget(bar)
    bars[1].setButtons(ButtonStates(start=True, stop=True, end_now=True, suspend=True), 0)
    buttons = [button for bar in bars for button in bar.findChildren(QPushButton)]
    assert len(buttons) == 8
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
