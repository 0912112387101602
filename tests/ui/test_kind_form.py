"""A form for a table of several kinds, made of what the kinds declare."""

from typing import Literal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QMenu, QVBoxLayout, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import kind, kinds_of
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Problem
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.text_input import PathEdit, TextInput
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.reading_order import tab_stops


class Square(Value):
    source: Literal["square"] = kind(Choice("square", "Square: equal sides", "All equal."))
    side: int = setting("Side", "Its length.", default=1, ge=0)


class Drawn(Value):
    source: Literal["circle", "star"] = kind(
        Choice("circle", "Circle", "Round."), Choice("star", "Star", "With points.")
    )
    label: str = setting("Label", "Its name.")
    points: int = setting("Points", "How many.", default=5, ge=0, advanced=True)


KINDS = kinds_of(Square | Drawn)


@pytest.fixture
def form(qtbot) -> KindForm:
    form = KindForm(KINDS, Square(), title="Shape", tip="What it looks like, in one word.")
    qtbot.addWidget(form)
    return form


def choose(form: KindForm, source: str) -> None:
    form.chooser.setCurrentIndex(form.chooser.findData(source))


def shown(form: KindForm, widget: type[QWidget], name: str) -> QWidget | None:
    named = (each for each in form.findChildren(widget) if each.accessibleName() == name)
    return next((each for each in named if each.isVisibleTo(form)), None)


def test_that_the_chooser_has_the_words_of_the_kinds(form):
    box = form.chooser
    labels = [box.itemText(index) for index in range(box.count())]
    assert labels == ["Square: equal sides", "Circle", "Star"]
    assert "With points." in box.itemData(2, Qt.ItemDataRole.ToolTipRole)
    assert box.accessibleName() == "Shape"


def test_that_choosing_a_kind_reports_once_and_shows_its_settings(form):
    heard = []
    form.valueChanged.connect(heard.append)
    choose(form, "star")
    assert heard == [Drawn(source="star", label="")]
    assert form.value() == heard[0]
    assert shown(form, TextInput, "Label") is not None
    assert shown(form, Counter, "Side") is None


def test_that_a_set_value_is_shown_and_not_reported(form):
    heard = []
    form.valueChanged.connect(heard.append)
    value = Drawn(source="circle", label="a", points=7)
    form.setValue(value)
    assert (form.value(), form.chooser.value()) == (value, "circle")
    assert shown(form, TextInput, "Label").text() == "a"
    assert heard == []


def test_that_each_kind_keeps_what_was_typed_for_it_until_it_is_forgotten(form, qtbot):
    choose(form, "circle")
    qtbot.keyClicks(shown(form, TextInput, "Label"), "round")
    choose(form, "star")
    assert form.value() == Drawn(source="star", label="")
    choose(form, "circle")
    assert form.value() == Drawn(source="circle", label="round")
    form.setValue(Square())
    form.forget()
    choose(form, "circle")
    assert form.value() == Drawn(source="circle", label="")


def test_that_a_form_of_a_kind_is_made_when_it_is_first_shown(form):
    assert len(form.findChildren(ValueForm)) == 1
    choose(form, "circle")
    choose(form, "star")
    choose(form, "square")
    assert len(form.findChildren(ValueForm)) == 2


@pytest.mark.parametrize("make", [DataPanel, ModelPanel])
def test_that_a_new_panel_has_the_form_of_its_value_only(qtbot, make):
    panel = make()
    qtbot.addWidget(panel)
    assert len(panel.findChildren(ValueForm)) == 1


def test_that_tab_goes_through_a_form_that_was_made_late_in_its_place(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    form = KindForm(KINDS, Square(), title="Shape", tip="What it looks like, in one word.")
    first, last = QLineEdit(), QLineEdit()
    layout = QVBoxLayout(page)
    for part in (first, form, last):
        layout.addWidget(part)
    choose(form, "star")
    page.show()
    stops = list(tab_stops(page))
    between = stops[stops.index(first) + 1 : stops.index(last)]
    assert between[:2] == [form.chooser, shown(form, TextInput, "Label")]
    assert all(form.isAncestorOf(each) for each in between)


def test_that_a_kind_that_is_not_offered_is_named_with_the_reason(form):
    form.setOffered(KINDS[1:], unoffered="not round")
    assert form.chooser.currentText() == "Square (not round)"
    choose(form, "star")
    labels = [form.chooser.itemText(index) for index in range(form.chooser.count())]
    assert labels == ["Circle", "Star"]
    form.setOffered(KINDS[:1], unoffered="not square")
    assert form.chooser.currentText() == "Star (not square)"
    assert form.value() == Drawn(source="star", label="")


def test_that_what_another_value_starts_with_can_be_said(qtbot):
    form = KindForm(
        KINDS, Square(), title="Shape", tip="Its look.", new=lambda each: each.new(label="new")
    )
    qtbot.addWidget(form)
    choose(form, "star")
    assert form.value() == Drawn(source="star", label="new")
    assert form.draft("circle") == Drawn(source="circle", label="new")


def test_that_problems_stand_at_the_chooser_and_in_the_form_that_is_shown(form):
    def messages() -> list[str]:
        notes = (each for each in form.findChildren(Note) if each.isVisibleTo(form))
        return [note.text() for note in notes if note.text()]

    about = {"source": "Bad kind.", "label": "No name.", "side": "Too long."}
    problems = {key: Problem(code="bad", message=text) for key, text in about.items()}
    form.setProblems(problems)
    assert sorted(messages()) == ["Bad kind.", "Too long."]
    choose(form, "star")
    assert sorted(messages()) == ["Bad kind.", "No name."]
    form.setProblems({})
    assert messages() == []


def test_that_a_folded_setting_of_the_kind_that_is_shown_is_revealed(form):
    choose(form, "star")
    assert shown(form, Counter, "Points") is None
    form.reveal("source")
    form.reveal("points")
    assert form.editors()["points"] is shown(form, Counter, "Points")


def test_that_the_chooser_can_be_hidden(form):
    form.set_chooser_visible(visible=False)
    assert not form.chooser.isVisibleTo(form)
    assert not any(each.text() == "Shape" and each.isVisibleTo(form) for each in labels(form))
    form.set_chooser_visible(visible=True)
    assert form.chooser.isVisibleTo(form)


def labels(form: KindForm) -> list[QLabel]:
    return form.findChildren(QLabel)


offscreen_list = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def from_list(qtbot, panel: QWidget, source: str) -> PathEdit:
    """Chooses an entry in the list that drops down; gives the field of its path."""
    panel.show()
    box = next(each for each in panel.findChildren(ChoiceBox) if each.findData(source) >= 0)
    box.showPopup()
    view = box.view()
    qtbot.waitUntil(view.isVisible)
    view.setCurrentIndex(box.model().index(box.findData(source), 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert panel.value().source == source
    return next(each for each in panel.findChildren(PathEdit) if each.isVisibleTo(panel))


@offscreen_list
@pytest.mark.parametrize(
    ("make", "source"),
    [(DataPanel, "images"), (DataPanel, "python"), (ModelPanel, "saved"), (ModelPanel, "python")],
)
def test_that_what_has_a_file_asks_for_it_when_it_is_chosen(qtbot, make, source):
    panel = make()
    qtbot.addWidget(panel)
    path = from_list(qtbot, panel, source)
    qtbot.waitUntil(lambda: path.findChild(QFileDialog) is not None)
    path.findChild(QFileDialog).reject()


@offscreen_list
def test_that_a_table_or_a_folder_is_asked_for_by_a_menu(qtbot):
    panel = DataPanel()
    qtbot.addWidget(panel)
    path = from_list(qtbot, panel, "text")
    menu = path.findChild(QMenu)
    qtbot.waitUntil(menu.isVisible)
    menu.close()


@offscreen_list
def test_that_arrow_keys_open_no_dialog_nor_does_what_was_chosen_before(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.show()
    box = panel.findChild(ChoiceBox, "model_selector")
    box.setCurrentIndex(box.findData("python") - 1)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert panel.value().source == "python"
    QTest.qWait(20)
    assert panel.findChildren(QFileDialog) == []
    panel.setValue(SavedModel(path="m.keras"))
    choose_mlp = box.findData("mlp")
    box.setCurrentIndex(choose_mlp)
    from_list(qtbot, panel, "saved")
    QTest.qWait(20)
    assert panel.findChildren(QFileDialog) == []
