"""Each kind of setting gets an input that takes the values that it allows, and no others."""

from collections.abc import Callable
from typing import Annotated, Literal

import pytest
from pydantic import Field
from PySide6.QtCore import Qt
from PySide6.QtGui import QValidator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QPushButton, QWidget

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.duration import Duration
from gpupanel.domain.hours import HoursText
from gpupanel.domain.setting import PathKind, SettingType, setting, setting_of, settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.forms.input_for import input_for
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.choice_or_input import ChoiceOrInput
from gpupanel.ui.inputs.counter import GREATEST, Counter, OptionalCounter
from gpupanel.ui.inputs.files_edit import FilesEdit
from gpupanel.ui.inputs.name_choices import NameChoices
from gpupanel.ui.inputs.named_choices_edit import NamedChoicesEdit
from gpupanel.ui.inputs.named_lists_edit import NamedListsEdit
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.optional_real import OptionalReal
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.inputs.size_input import SizeInput
from gpupanel.ui.inputs.switch import CheckBox, Switch
from gpupanel.ui.inputs.text_input import PathEdit, TextInput
from gpupanel.ui.inputs.time_edits import DurationEdit, HoursEdit


class Colour(ChoiceEnum):
    RED = "red", "Red", "As blood."
    BLUE = "blue", "Blue", "As the sky."


Side = Annotated[int, setting("", "", ge=1, le=64)]
LargeSide = Annotated[int, setting("", "", gt=7, lt=513)]


class Values(Value):
    """A setting of each type."""

    switch: bool = setting("Switch", "On or off.", default=False)
    count: int = setting("Count", "So many.", default=3, ge=2, lt=10, unit="epoch", prefix="every ")
    above: int = setting("Above", "So many.", default=1, gt=0)
    none_at_0: int = setting("None at 0", "So many.", default=0, ge=0, off="never", unit="time")
    optional_count: int | None = setting(
        "Optional count", "So many.", default=None, gt=0, le=9, off="as many as there are"
    )
    fraction: float = setting("Fraction", "A part.", default=0.0, ge=0.0, lt=1.0)
    up_to: float = setting("Up to", "A part.", default=0.0, ge=0.0, le=1.0)
    rate: float = setting("Rate", "How fast.", default=1e-3, gt=0.0)
    free: float = setting("Free", "Any number.", default=0.0)
    optional_number: float | None = setting(
        "Optional number", "Minutes.", default=None, gt=0.0, off="off", unit="minute", examples=[10]
    )
    bare_number: float | None = setting("Bare number", "A number.", default=None)
    colour: Colour = setting("Colour", "Its colour.", default=Colour.RED)
    format: Literal["npz", "csv"] = setting(
        "Format",
        "Of the file.",
        default="npz",
        choices=(Choice("npz", "NumPy", "Arrays."), Choice("csv", "Table", "Lines.")),
    )
    plain: Literal["a", "b"] = setting("Plain", "One of two.", default="a")
    counts: tuple[int, ...] = setting(
        "Counts", "Numbers.", default=(1,), min_length=1, max_length=3, examples=[[8, 16]]
    )
    counts_or_none: tuple[int, ...] = setting(
        "More", "Numbers.", default=(), max_length=3, off="no layer"
    )
    size: tuple[Side, Side] = setting("Size", "In pixels.", default=(8, 8), unit="pixel")
    large: tuple[LargeSide, LargeSide] = setting("Large", "In pixels.", default=(8, 8))
    text: str = setting("Text", "Words.")
    duration: Duration | None = setting("Duration", "A time.", default=None, off="none")
    hours: HoursText | None = setting("Hours", "When.", default=None, off="any time")
    file: str = setting(
        "File", "A file.", default="", path=PathKind((".npz",), "NumPy files", "Open")
    )
    folder: str = setting("Folder", "A folder.", default="", path=PathKind((), "", "Choose it"))
    names: tuple[str, ...] = setting("Names", "Of columns.", default=())
    named: dict[str, Colour] = setting(
        "Named", "The colour of each.", default={}, max_length=2, off="none"
    )
    lists: dict[str, tuple[str, ...]] = setting(
        "Lists", "Columns of each.", default={}, max_length=2, off="none"
    )
    files: tuple[str, ...] = setting(
        "Files",
        "Some.",
        default=(),
        off="all",
        path=PathKind((".png", ".jpg"), "Pictures", "Choose them"),
    )
    word_or_count: Literal["none", "all"] | Annotated[int, Field(ge=1, le=9)] = setting(
        "Word or count", "So many.", default="none", prefix="the last ", unit="layer"
    )
    word_or_names: Literal["none", "all"] | Annotated[tuple[str, ...], Field(max_length=2)] = (
        setting("Word or names", "Layers.", default="none", prefix="after ", examples=[["a", "b"]])
    )
    word_or_counts: (
        Literal["none", "all"] | Annotated[tuple[int, ...], Field(min_length=1, max_length=2)]
    ) = setting("Word or counts", "Parts.", default="none", prefix="by ", examples=[[3, 1]])
    word_or_file: str = setting(
        "Word or file",
        "A file.",
        default="none",
        choices=(Choice("none", "None", "Nothing."),),
        path=PathKind((".h5",), "Weights", "Open"),
    )
    other: dict[str, int] = setting("Other", "What has no input here.", default={})


@pytest.fixture
def make(qtbot):
    def make(name: str) -> QWidget:
        widget = input_for(setting_of(Values, name))
        qtbot.addWidget(widget)
        return widget

    return make


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("switch", CheckBox),
        ("count", Counter),
        ("none_at_0", Counter),
        ("optional_count", OptionalCounter),
        ("fraction", RealSpinBox),
        ("optional_number", OptionalReal),
        ("colour", ChoiceBox),
        ("format", ChoiceBox),
        ("counts", NumberListEdit),
        ("size", SizeInput),
        ("text", TextInput),
        ("duration", DurationEdit),
        ("hours", HoursEdit),
        ("file", PathEdit),
        ("names", NameChoices),
        ("named", NamedChoicesEdit),
        ("lists", NamedListsEdit),
        ("files", FilesEdit),
        ("word_or_count", ChoiceOrInput),
        ("word_or_file", ChoiceOrInput),
        ("word_or_names", ChoiceOrInput),
        ("word_or_counts", ChoiceOrInput),
    ],
)
def test_that_the_input_is_that_of_the_setting_type(make, name, kind):
    assert type(make(name)) is kind


def test_that_names_are_typed_with_a_value_each(make):
    line = make("named")
    line.setValue({"a": Colour.RED})
    assert (line.text(), line.placeholderText()) == ("a: red", "none")
    changes = []
    line.valueChanged.connect(changes.append)
    for typed, value, error in (
        ("a: red, b:blue", {"a": "red", "b": "blue"}, ""),
        ("x:y: red", {"x:y": "red"}, ""),
        ("x:y: red, b", {"x:y": "red"}, "“b” is not a name with one of red, blue: write NAME: red"),
        ("a: green", {"x:y": "red"}, "“a: green” is not a name"),
        (": red", {"x:y": "red"}, "“: red” is not a name"),
        ("a: red, a: blue", {"x:y": "red"}, "“a” is named twice."),
        ("a: red, b: red, c: red", {"x:y": "red"}, "There may be 2 names at most."),
        ("", {}, ""),
    ):
        line.setText(typed)
        line.textEdited.emit(typed)  # pasted: each key alone may make a table, too
        assert line.value() == value
        assert error in line.error()
        assert bool(line.error()) is bool(error)
    assert changes[-1] == {}
    assert Values(text="", named={"a": "red"}).named == {"a": Colour.RED}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("user: age, city; item:price", {"user": ("age", "city"), "item": ("price",)}),
        (
            '"a:b": "x, y", "say ""hi""", z w ;',
            {"a:b": ("x, y", 'say "hi"', "z w")},
        ),
        ('a: ""', {"a": ("",)}),
        ("", {}),
    ],
)
def test_that_names_are_typed_with_a_list_each(make, typed, value):
    line = make("lists")
    line.setValue({"else": ("b",)})
    line.setText(typed)
    line.textEdited.emit(typed)
    assert (line.value(), line.error()) == (value, "")
    # What is shown of it is read as the same.
    other = make("lists")
    other.setValue(value)
    other.textEdited.emit(other.text())
    assert (other.value(), other.error()) == (value, "")


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("user", "Write a name with its columns"),
        ("user:", "Write a name with its columns"),
        ("user: a,, b", "Write a name with its columns"),
        (": a", "Write a name with its columns"),
        ("a: b: c", "Write a name with its columns"),
        ('a: b "c"', "Write a name with its columns"),
        ('a: "b', "A quotation mark is not closed."),
        ("a: b; a: c", "“a” is named twice."),
        ("a: b; c: d; e: f", "There may be 2 names at most."),
    ],
)
def test_that_what_is_no_table_of_lists_is_said(make, typed, error):
    line = make("lists")
    line.setValue({"else": ("b",)})
    line.setText(typed)
    line.textEdited.emit(typed)
    assert line.value() == {"else": ("b",)}
    assert error in line.error()


def test_that_a_time_is_typed_as_in_a_profile_or_left_out(make):
    line = make("duration")
    assert (line.value(), line.placeholderText()) == (None, "None")
    for typed, value, error in (
        ("1h30m", "1h30m", ""),
        ("soon", "1h30m", "“soon” is not a time; times are written as in 90m, 8h, 1h30m or 2d."),
        ("  ", None, ""),
    ):
        line.setText(typed)
        line.textEdited.emit(typed)
        assert (line.value(), line.error()) == (value, error)
    line.setValue("2d")
    assert line.text() == "2d"


def test_that_every_type_is_tried_here():
    # A table is a form of its own: tests/ui/test_value_form.py.
    made_here = set(SettingType) - {SettingType.TABLE}
    assert {each.type for each in settings_of(Values)} == made_here


def test_that_what_needs_an_editor_of_its_own_is_refused(qapp):
    with pytest.raises(TypeError, match="other needs an input of its own"):
        input_for(setting_of(Values, "other"))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("count", 2, 9), ("above", 1, GREATEST), ("none_at_0", 0, GREATEST), ("optional_count", 0, 9)],
)
def test_that_whole_numbers_are_bounded(make, name, least, most):
    counter = make(name)
    assert (counter.minimum(), counter.maximum()) == (least, most)


def test_that_a_number_is_shown_with_its_prefix_and_unit(make):
    count = make("count")
    count.setValue(3)
    assert count.text() == "every 3 epochs"


def test_that_zero_is_shown_as_the_word_for_it(make):
    times = make("none_at_0")
    assert (times.value(), times.text()) == (0, "never")
    times.stepUp()
    assert (times.value(), times.text()) == (1, "1 time")


def test_that_a_count_that_is_left_out_is_none_and_says_what_that_means(make):
    counter = make("optional_count")
    reported = []
    counter.valueChanged.connect(reported.append)
    counter.setValue(4)
    counter.setValue(None)
    assert (counter.value(), counter.text(), reported) == (None, "as many as there are", [])
    counter.stepUp()
    assert counter.value() == 1


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("fraction", ["0", "0.999"], ["1", "-0.1"]),
        ("up_to", ["0", "1"], ["1.001", "-0.1"]),
        ("rate", ["1e-9", "1e9"], ["0", "-1"]),
        ("free", ["-1e9", "0", "1e9"], ["x"]),
    ],
)
def test_that_real_numbers_are_bounded(make, name, inside, outside):
    field = make(name)
    acceptable = QValidator.State.Acceptable
    assert all(field.validate(text, 0)[0] is acceptable for text in inside)
    assert all(field.validate(text, 0)[0] is not acceptable for text in outside)


def test_that_a_part_goes_by_steps_and_another_number_by_one_two_five(make):
    for name in ("fraction", "up_to"):
        part = make(name)
        part.setValue(0.1)
        part.stepUp()
        assert part.value() == 0.15
    rate = make("rate")
    rate.setValue(0.1)
    rate.stepUp()
    assert rate.value() == 0.2


def test_that_a_number_that_is_left_out_says_what_that_means_and_starts_with_the_example(make):
    field = make("optional_number")
    assert field.value() is None
    assert _words(field) == ["off"]
    field.findChild(Switch).click()
    assert field.value() == 10.0
    assert _words(field) == ["minutes"]
    bare = make("bare_number")
    bare.findChild(Switch).click()
    assert bare.value() == 1.0


@pytest.mark.parametrize(
    ("name", "labels", "values"),
    [
        ("colour", ["Red", "Blue"], ["red", "blue"]),
        ("format", ["NumPy", "Table"], ["npz", "csv"]),
        ("plain", ["a", "b"], ["a", "b"]),
    ],
)
def test_that_choices_are_offered_in_words(make, name, labels, values):
    box = make(name)
    assert [box.itemText(index) for index in range(box.count())] == labels
    assert [box.itemData(index) for index in range(box.count())] == values


def test_that_each_choice_teaches_what_it_does(make):
    for name, tip in (("colour", "As the sky."), ("format", "Lines.")):
        assert tip in make(name).itemData(1, Qt.ItemDataRole.ToolTipRole)


def test_that_lists_have_their_lengths_and_an_example(make, qtbot):
    counts = make("counts")
    assert counts.placeholderText() == "8, 16"
    counts.setValue((1,))
    counts.selectAll()
    qtbot.keyClicks(counts, "1 2 3 4")
    assert "3 numbers at most" in counts.error()
    counts.clear()
    qtbot.keyClicks(counts, " ")
    assert "at least one" in counts.error()
    assert counts.value() == (1, 2, 3)
    assert make("counts_or_none").placeholderText() == "no layer"


def test_that_a_word_or_counts_opens_a_line_for_them(make):
    field = make("word_or_counts")
    assert [field.choice.itemText(place) for place in range(3)] == ["none", "all", "By…"]
    field.setValue((3, 1))
    assert not field.typed.isHidden()
    assert (field.typed.text(), field.typed.placeholderText()) == ("3, 1", "3, 1")


def test_that_a_word_or_names_opens_a_line_for_them(make, qtbot):
    field = make("word_or_names")
    assert [field.choice.itemText(place) for place in range(3)] == ["none", "all", "After…"]
    assert field.typed.isHidden()
    field.setValue(("conv_1", "conv_2"))
    assert not field.typed.isHidden()
    assert (field.typed.text(), field.typed.placeholderText()) == ("conv_1, conv_2", "a, b")
    field.typed.clear()
    qtbot.keyClicks(field.typed, "conv_3,, conv_3 ,a")
    assert field.value() == ("conv_3", "a")
    qtbot.keyClicks(field.typed, ",b")
    assert "2 names at most" in field.error()
    field.discard()
    assert (field.typed.text(), field.error()) == ("conv_3, a", "")


def test_that_a_size_is_bounded_and_has_its_unit(make):
    size = make("size")
    height, width = size.findChildren(Counter)
    assert [(each.minimum(), each.maximum()) for each in (height, width)] == [(1, 64)] * 2
    assert (height.accessibleName(), width.accessibleName()) == ("Size: height", "Size: width")
    size.setValue((7, 9))
    assert width.text() == "9 pixels"
    assert size.value() == (7, 9)


def test_that_both_bounds_of_a_size_hold(make):
    large = make("large")
    sides = large.findChildren(Counter)
    assert [(each.minimum(), each.maximum()) for each in sides] == [(8, 512)] * 2


def _type(widget: QWidget) -> None:
    QTest.keyClicks(widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit), "7")


def _clear(widget: QWidget) -> None:
    menu = widget.findChild(QPushButton).menu()
    menu.aboutToShow.emit()
    menu.actions()[0].trigger()


CHANGES: dict[str, tuple[object, Callable[[QWidget], object]]] = {
    "switch": (True, lambda widget: widget.click()),
    "count": (4, lambda widget: widget.stepUp()),
    "optional_count": (4, lambda widget: widget.setValue(None) or widget.stepUp()),
    "fraction": (0.5, lambda widget: widget.stepUp()),
    "optional_number": (4.0, lambda widget: widget.findChild(Switch).click()),
    "colour": ("blue", lambda widget: widget.setCurrentIndex(0)),
    "counts": ((4, 5), _type),
    "size": ((4, 5), lambda widget: widget.findChild(Counter).stepUp()),
    "text": ("some", _type),
    "duration": ("8h", _type),
    "hours": ("22:00-07:00", lambda line: line.clear() or line.textEdited.emit("")),
    "file": ("some", _type),
    "names": (("a", "b"), _clear),
    "lists": ({"a": ("b",)}, lambda line: line.clear() or line.textEdited.emit("")),
    "named": ({"a": "red"}, lambda line: line.clear() or line.textEdited.emit("")),
    "files": (("a.png", "b.png"), lambda widget: widget.findChildren(QPushButton)[1].click()),
    "word_or_count": (4, lambda widget: widget.choice.setCurrentIndex(1)),
}
"""For an input of each kind: another value, and what a person does to it then."""


def test_that_every_kind_of_input_is_changed_here(make):
    made = {type(make(each.name)) for each in settings_of(Values) if each.name != "other"}
    assert {type(make(name)) for name in CHANGES} == made


@pytest.mark.parametrize("name", CHANGES)
def test_that_a_value_is_set_silently_and_what_a_person_changes_is_heard(make, name):
    widget, heard = make(name), []
    widget.valueChanged.connect(lambda: heard.append(widget.value()))
    value, change = CHANGES[name]
    widget.setValue(value)
    assert widget.value() == value
    assert heard == []
    change(widget)
    assert heard == [widget.value()] != [value]


@pytest.mark.parametrize(
    ("name", "placeholder", "mode", "filters", "title"),
    [
        (
            "file",
            "drop a .npz file",
            QFileDialog.FileMode.ExistingFile,
            "NumPy files (*.npz)",
            "Open",
        ),
        ("folder", "drop a folder", QFileDialog.FileMode.Directory, None, "Choose it"),
    ],
)
def test_that_a_path_is_asked_for_as_what_it_leads_to(
    make, qtbot, name, placeholder, mode, filters, title
):
    path = make(name)
    assert path.findChild(QLineEdit).placeholderText() == placeholder
    qtbot.mouseClick(path.findChild(QPushButton), Qt.MouseButton.LeftButton)
    dialog = path.findChild(QFileDialog)
    assert (dialog.fileMode(), dialog.windowTitle()) == (mode, title)
    assert filters is None or dialog.nameFilters() == [filters]
    dialog.reject()


def test_that_a_setting_that_cannot_start_at_one_needs_a_counter_of_its_own(qapp):
    class Pair(Value):
        several: int | None = setting("Several", "Two or more.", default=None, ge=2)

    with pytest.raises(TypeError, match="several needs an input of its own"):
        input_for(setting_of(Pair, "several"))


def _words(widget: QWidget) -> list[str]:
    labels = (each for each in widget.findChildren(QLabel) if each.isVisibleTo(widget))
    return [each.text() for each in labels if each.text()]


@pytest.mark.parametrize(
    ("name", "words", "another", "typed"),
    [
        ("word_or_count", ["none", "all", "The last…"], 4, "the last 4 layers"),
        ("word_or_file", ["None", "A file…"], "/weights.h5", "/weights.h5"),
    ],
)
def test_that_a_word_is_chosen_or_another_value_typed(make, name, words, another, typed):
    widget = make(name)
    widget.show()
    changes = []
    widget.valueChanged.connect(changes.append)
    assert [widget.choice.itemText(row) for row in range(widget.choice.count())] == words
    widget.setValue("none")
    assert (widget.value(), widget.typed.isVisible()) == ("none", False)
    widget.setValue(another)
    assert (widget.value(), widget.typed.isVisible()) == (another, True)
    assert typed in [field.text() for field in widget.typed.findChildren(QLineEdit)]
    assert changes == []
    widget.choice.setCurrentIndex(0)
    assert changes == ["none"]
    widget.choice.setCurrentIndex(len(words) - 1)
    assert changes == ["none", another]
