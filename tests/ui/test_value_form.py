"""A form is made of what a value's settings declare: a new setting needs no line of the window."""

from itertools import pairwise
from typing import Annotated, Literal

import pytest
from pydantic import Field
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.problem import Problem
from gpupanel.domain.setting import PathKind, setting, settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.forms.settings_form import WIDEST_INPUT
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.counter import Counter, OptionalCounter
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.optional_real import OptionalReal
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.inputs.size_input import SizeInput
from gpupanel.ui.inputs.switch import CheckBox, Switch
from gpupanel.ui.inputs.text_input import PathEdit, TextInput
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note

Side = Annotated[int, Field(ge=1, le=64)]


class Shade(ChoiceEnum):
    LIGHT = "light", "Light", "Few ink."
    DARK = "dark", "Dark", "Much ink."


class Drawing(Value):
    """A setting of each type, two of them advanced."""

    name: str = setting("Name", "What it is called; a drawing must have a name.")
    framed: bool = setting("Framed", "Whether a line goes around it.", default=False)
    lines: int = setting("Lines", "How many lines it has.", default=3, ge=1, unit="line")
    seed: int = setting("Seed", "Decides the places of the dots.", default=7, ge=0, advanced=True)
    copies: int | None = setting(
        "Copies", "How many are made.", default=None, gt=0, off="as many as asked for"
    )
    scale: float = setting("Scale", "What its size is multiplied by.", default=1.0, gt=0.0)
    margin: float | None = setting(
        "Margin", "White around it, in centimetres.", default=None, gt=0.0, examples=[2.0]
    )
    shade: Shade = setting("Shade", "How much ink it takes.", default=Shade.LIGHT)
    paper: Literal["a4", "a5"] = setting(
        "Paper",
        "What it is drawn on.",
        default="a4",
        choices=(Choice("a4", "A4", "Large."), Choice("a5", "A5", "Small.")),
    )
    dots: tuple[int, ...] = setting("Dots", "On each line.", default=(1,), max_length=4)
    size: tuple[Side, Side] = setting("Size", "Height and width.", default=(8, 8))
    file: str = setting(
        "File", "Where it is.", default="", path=PathKind((".svg",), "Drawings", "Choose a drawing")
    )
    line_width: float = setting(
        "Line width",
        "Of the line around it.",
        default=1.0,
        gt=0.0,
        applies={"framed": (True,), "shade": ("dark",)},
    )
    smooth: bool = setting("Smooth", "Whether edges are softened.", default=True, advanced=True)


ROWS = {
    "name": TextInput,
    "framed": CheckBox,
    "lines": Counter,
    "copies": OptionalCounter,
    "scale": RealSpinBox,
    "margin": OptionalReal,
    "shade": ChoiceBox,
    "paper": ChoiceBox,
    "dots": NumberListEdit,
    "size": SizeInput,
    "file": PathEdit,
    "line_width": RealSpinBox,
    "seed": Counter,
    "smooth": CheckBox,
}
"""The input of each setting in the order of the rows, the advanced ones last."""
ADVANCED = ("seed", "smooth")
DECLARED = {each.name: each for each in settings_of(Drawing)}
OTHER = Drawing(
    name="a cat",
    framed=True,
    lines=5,
    seed=8,
    copies=2,
    scale=0.5,
    margin=1.5,
    shade=Shade.DARK,
    paper="a5",
    dots=(3, 4),
    size=(16, 32),
    file="cat.svg",
    line_width=2.0,
    smooth=False,
)


@pytest.fixture
def form(qtbot) -> ValueForm:
    form = ValueForm(Drawing(name="a dog"))
    qtbot.addWidget(form)
    form.resize(430, 700)
    return form


@pytest.fixture
def heard(form) -> list[Drawing]:
    heard: list[Drawing] = []
    form.valueChanged.connect(heard.append)
    return heard


def fold(form: ValueForm) -> FoldButton:
    return form.findChild(FoldButton)


def label(form: ValueForm, name: str) -> QLabel | None:
    return next(
        (each for each in form.findChildren(QLabel) if each.buddy() is row(form, name)), None
    )


def row(form: ValueForm, name: str) -> QWidget:
    return form.editors()[name]


def test_that_each_setting_has_a_row_in_the_order_of_its_declaration_advanced_ones_last(form):
    assert {name: type(widget) for name, widget in form.editors().items()} == ROWS
    assert list(form.editors()) == list(ROWS)
    fold(form).click()
    layout = form.layout()
    assert isinstance(layout, QFormLayout)
    rows = [layout.getWidgetPosition(each)[0] for each in form.editors().values()]
    assert rows == sorted(rows)
    assert rows[-3] < layout.getWidgetPosition(fold(form))[0] < rows[-2]


@pytest.mark.parametrize("name", ROWS)
def test_that_a_row_has_the_title_and_teaches_what_the_setting_does(form, name):
    declared, widget, caption = DECLARED[name], row(form, name), label(form, name)
    shown = widget.text() if isinstance(widget, CheckBox) else caption.text()
    assert shown.replace("&", "") == declared.title
    for each in (widget, caption or widget):
        assert declared.description in each.toolTip()
    assert widget.accessibleName() == declared.title
    assert widget.accessibleDescription() == declared.description


def test_that_the_tab_key_goes_through_the_rows_from_top_to_bottom(qtbot):
    form, page = ValueForm(OTHER), QWidget()
    qtbot.addWidget(page)
    before, after = QLineEdit(), QLineEdit()
    layout = QVBoxLayout(page)
    for part in (before, form, after):
        layout.addWidget(part)
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()
    before.setFocus()
    qtbot.waitUntil(before.hasFocus)
    reached: list[str] = []
    while not after.hasFocus():
        QTest.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
        widget = page.focusWidget()
        owners = (name for name in ROWS if owns(row(form, name), widget))
        name = next(owners, "more" if widget is fold(form) else "after")
        if reached[-1:] != [name]:
            reached.append(name)
        assert len(reached) < 40
    plain = [name for name in ROWS if name not in ADVANCED]
    assert reached == [*plain, "more", *ADVANCED, "after"]
    tops = [row(form, name).mapTo(page, QPoint(0, 0)).y() for name in ROWS]
    assert all(upper < lower for upper, lower in pairwise(tops))
    page.hide()


def owns(part: QWidget, widget: QWidget) -> bool:
    return part is widget or part.isAncestorOf(widget)


@pytest.mark.parametrize("name", ROWS)
def test_that_a_set_value_is_shown_and_not_reported(form, heard, name):
    form.setValue(OTHER)
    assert form.value() == OTHER
    assert row(form, name).value() == getattr(OTHER, name)
    assert heard == []


def test_that_the_value_that_it_is_made_for_is_shown(qtbot):
    form = ValueForm(OTHER)
    qtbot.addWidget(form)
    assert {name: widget.value() for name, widget in form.editors().items()} == dict(OTHER)


def _type(widget: QWidget, text: str) -> None:
    field = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)


CHANGES = {
    "name": lambda widget: _type(widget, "b"),
    "framed": lambda widget: widget.click(),
    "lines": lambda widget: widget.stepUp(),
    "copies": lambda widget: widget.stepUp(),
    "scale": lambda widget: widget.stepUp(),
    "margin": lambda widget: widget.findChild(Switch).click(),
    "shade": lambda widget: widget.setCurrentIndex(1),
    "paper": lambda widget: widget.setCurrentIndex(1),
    "dots": lambda widget: _type(widget, "7"),
    "size": lambda widget: widget.findChildren(Counter)[1].stepUp(),
    "file": lambda widget: _type(widget, "x"),
    "line_width": lambda widget: widget.stepUp(),
    "seed": lambda widget: widget.stepUp(),
    "smooth": lambda widget: widget.click(),
}
AFTERWARDS = {
    "name": "b",
    "framed": True,
    "lines": 4,
    "copies": 1,
    "scale": 2.0,
    "margin": 2.0,
    "shade": Shade.DARK,
    "paper": "a5",
    "dots": (7,),
    "size": (8, 9),
    "file": "x",
    "line_width": 2.0,
    "seed": 8,
    "smooth": False,
}


@pytest.mark.parametrize("name", ROWS)
def test_that_a_change_by_a_person_is_reported_once_and_changes_nothing_else(form, heard, name):
    before = form.value()
    CHANGES[name](row(form, name))
    assert heard == [before.model_copy(update={name: AFTERWARDS[name]})]
    assert form.value() == heard[0]
    assert type(getattr(heard[0], name)) is type(AFTERWARDS[name])


def test_that_a_required_text_can_be_cleared_while_another_is_typed(form, heard, qtbot):
    field = row(form, "name")
    assert DECLARED["name"].is_required
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    qtbot.keyClicks(field, "ox")
    assert [each.name for each in heard] == ["", "o", "ox"]


def test_that_what_is_being_typed_is_left_alone(form, qtbot):
    field = row(form, "name")
    field.setText("a dog")
    field.setCursorPosition(1)
    qtbot.keyClicks(field, "n")
    form.setValue(form.value())
    assert (field.text(), field.cursorPosition()) == ("an dog", 2)


def test_that_a_setting_can_be_changed_only_where_it_applies(form):
    width = row(form, "line_width")
    assert not width.isEnabled()
    row(form, "framed").click()
    assert not width.isEnabled()
    row(form, "shade").setCurrentIndex(1)
    assert width.isEnabled()
    form.setValue(OTHER.model_copy(update={"framed": False}))
    assert not width.isEnabled()
    form.setValue(OTHER)
    assert width.isEnabled()


def test_that_advanced_settings_are_folded_away_until_they_are_asked_for(form):
    assert not any(row(form, name).isVisibleTo(form) for name in ADVANCED)
    assert not label(form, "seed").isVisibleTo(form)
    assert all(row(form, name).isVisibleTo(form) for name in ROWS if name not in ADVANCED)
    fold(form).click()
    assert all(row(form, name).isVisibleTo(form) for name in ADVANCED)
    assert label(form, "seed").isVisibleTo(form)
    fold(form).click()
    assert not any(row(form, name).isVisibleTo(form) for name in ADVANCED)


@pytest.mark.parametrize("name", ADVANCED)
def test_that_a_changed_advanced_setting_is_never_folded_away(form, name):
    form.setValue(Drawing(name="", **{name: getattr(OTHER, name)}))
    assert row(form, name).isVisibleTo(form)


def test_that_what_a_person_folds_stays_folded_while_something_else_changes(form):
    form.setValue(Drawing(name="", seed=9))
    fold(form).click()
    form.setValue(Drawing(name="", seed=9, copies=3))
    assert not row(form, "seed").isVisibleTo(form)
    form.setValue(Drawing(name="", seed=8, copies=3))
    assert row(form, "seed").isVisibleTo(form)


def test_that_a_changed_setting_that_is_not_advanced_unfolds_nothing(form):
    form.setValue(Drawing(name="another", lines=9, copies=3))
    assert not row(form, "seed").isVisibleTo(form)


def test_that_an_advanced_setting_can_be_revealed(form):
    form.reveal("lines")
    assert not row(form, "seed").isVisibleTo(form)
    form.reveal("seed")
    assert row(form, "seed").isVisibleTo(form)


def test_that_a_form_without_advanced_settings_has_nothing_to_unfold(qtbot):
    class Plain(Value):
        lines: int = setting("Lines", "How many lines it has.", default=3, ge=1)

    form = ValueForm(Plain())
    qtbot.addWidget(form)
    assert form.findChild(FoldButton) is None or not fold(form).isVisibleTo(form)


def test_that_a_row_can_be_hidden_and_shown(form):
    form.set_shown("lines", shown=False)
    assert not row(form, "lines").isVisibleTo(form)
    assert not label(form, "lines").isVisibleTo(form)
    form.setValue(OTHER)
    assert not row(form, "lines").isVisibleTo(form)
    form.set_shown("lines", shown=True)
    assert row(form, "lines").isVisibleTo(form)
    assert label(form, "lines").isVisibleTo(form)


def test_that_a_setting_can_have_an_input_of_its_own(qtbot):
    class Thick(Counter):
        pass

    own = Thick()
    form = ValueForm(Drawing(name=""), inputs={"lines": own})
    qtbot.addWidget(form)
    assert row(form, "lines") is own
    own.setValue(4)
    own.stepUp()
    assert form.value().lines == 5


def test_that_inputs_line_up_and_paths_are_as_wide_as_the_form(form, qtbot):
    form.resize(900, 700)
    with qtbot.waitExposed(form):
        form.show()
    boxes = form.findChildren(QComboBox)
    assert {each.width() for each in boxes} == {WIDEST_INPUT}
    assert row(form, "file").width() > WIDEST_INPUT
    left = {row(form, name).x() for name in ROWS if name not in ADVANCED}
    assert len(left) == 1
    form.hide()


class Wash(Value):
    """Settings within another table."""

    colour: Shade = setting("Colour", "Of the wash.", default=Shade.LIGHT)
    layers: int = setting("Layers", "How many there are.", default=0, ge=0, off="none")
    amount: float = setting("Amount", "Of water.", default=0.0, ge=0.0, le=0.9, off="dry")


class Painting(Value):
    """A table with another one in it."""

    name: str = setting("Name", "What it is called.", default="")
    wash: Wash = setting("Wash", "What is painted first.", default=Wash(), off="none")


@pytest.fixture
def painting(qtbot) -> ValueForm:
    form = ValueForm(Painting())
    qtbot.addWidget(form)
    return form


def inner_form(form: ValueForm) -> ValueForm:
    return next(each for each in form.findChildren(ValueForm))


def test_that_a_table_within_a_table_is_folded_into_a_line_that_says_what_was_changed(painting):
    line = fold(painting)
    assert line.text() == "Wash: none"
    assert line.accessibleName() == "Wash"
    assert "What is painted first." in line.toolTip()
    assert painting.findChildren(ValueForm) == []
    painting.setValue(Painting(wash=Wash(layers=2, amount=0.5)))
    assert line.text() == "Wash: layers, amount"


def test_that_a_setting_of_a_table_within_a_table_is_changed(painting, qtbot):
    heard = []
    painting.valueChanged.connect(heard.append)
    fold(painting).click()
    counter = inner_form(painting).editors()["layers"]
    counter.stepBy(3)
    assert heard[-1] == painting.value() == Painting(wash=Wash(layers=3))
    assert fold(painting).text() == "Wash: layers"
    painting.setValue(Painting())
    assert inner_form(painting).value() == Wash()


def test_that_a_problem_within_a_table_stands_below_its_line(painting):
    problem = Problem(code="x", field="painting.wash.layers", message="Too many.", hint="Fewer.")
    painting.setProblems({"wash": problem})
    assert [note.text() for note in painting.findChildren(Note) if not note.isHidden()] == [
        "Too many."
    ]


def test_that_a_number_shows_what_nothing_means(painting, qtbot):
    fold(painting).click()
    amount = inner_form(painting).editors()["amount"]
    edit = amount.findChild(QLineEdit)
    assert edit.text() == "dry"
    amount.stepBy(1)
    assert (edit.text(), amount.value()) == ("0.05", 0.05)
    edit.selectAll()
    QTest.keyClicks(edit, "0")
    assert amount.value() == 0.0
    amount.setValue(0.0)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "dry"
