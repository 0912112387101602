"""Names that are chosen by click: one, several, or none."""

import pytest
from PySide6.QtWidgets import QMenu, QPushButton

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.name_choices import NameChoices

COLUMNS = tuple(Choice(name, f"{name}: number") for name in ("a", "b & c", "d\u202e"))


@pytest.fixture
def make(qtbot):
    def make(*, is_optional: bool = True, may_be_one: bool = True) -> NameChoices:
        choices = NameChoices(off="automatic", is_optional=is_optional, may_be_one=may_be_one)
        qtbot.addWidget(choices)
        choices.resize(300, 30)
        return choices

    return make


def menu_of(choices: NameChoices) -> QMenu:
    button = choices.findChild(QPushButton)
    menu = button.menu()
    menu.aboutToShow.emit()
    return menu


def click(menu: QMenu, label: str) -> None:
    next(action for action in menu.actions() if action.text() == label).trigger()


def test_that_one_click_chooses_one_and_another_takes_its_place(make):
    choices, heard = make(), []
    choices.valueChanged.connect(heard.append)
    choices.setFound(COLUMNS, ("a",))
    assert (choices.value(), choices.text()) == (None, "Automatic: a")
    click(menu_of(choices), "a: number")
    click(menu_of(choices), "b && c: number")
    click(menu_of(choices), "b && c: number")
    click(menu_of(choices), "Automatic")
    assert heard == [("a",), ("b & c",), None]


def test_that_several_are_chosen_from_the_menu_within_in_the_order_of_the_table(make):
    choices, heard = make(), []
    choices.valueChanged.connect(heard.append)
    choices.setFound(COLUMNS, "a")
    choices.setValue("b & c")
    for label in ("a: number", "b && c: number"):
        several = next(each.menu() for each in menu_of(choices).actions() if each.menu())
        click(several, label)
    assert heard == [("a", "b & c"), ("a",)]


def test_that_a_list_is_ticked_and_unticked(make):
    choices, heard = make(is_optional=False, may_be_one=False), []
    choices.valueChanged.connect(heard.append)
    choices.setFound(COLUMNS, ())
    click(menu_of(choices), "d\\u202e: number")
    click(menu_of(choices), "a: number")
    assert choices.text() == "a, d\\u202e"
    ticked = [action.text() for action in menu_of(choices).actions() if action.isChecked()]
    assert ticked == ["a: number", "d\\u202e: number"]
    click(menu_of(choices), "d\\u202e: number")
    click(menu_of(choices), "a: number")
    assert heard[-1] == ()


def test_that_names_that_are_not_there_are_shown_as_what_they_are(make):
    choices = make()
    choices.setValue(("gone", "a"))
    assert choices.value() == ("gone", "a")
    labels = [action.text() for action in menu_of(choices).actions()]
    assert "gone (not found)" in labels
    choices.setValue(None)
    assert [action.isEnabled() for action in menu_of(choices).actions()][-1] is False
