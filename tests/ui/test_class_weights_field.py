"""Weights of classes: a choice in words, or a number for each class."""

import pytest
from PySide6.QtWidgets import QLabel

from gpupanel.domain.data_source import ClassWeights
from gpupanel.ui.panels.data_panel.class_weights_field import ClassWeightsField
from gpupanel.ui.widgets.labels import Note


@pytest.fixture
def field(qtbot) -> ClassWeightsField:
    field = ClassWeightsField()
    qtbot.addWidget(field)
    return field


def choose(field: ClassWeightsField, label: str) -> None:
    field.choice.setCurrentIndex(field.choice.findText(label))


def note(field: ClassWeightsField) -> str:
    (note,) = field.findChildren(Note)
    return "" if note.isHidden() else note.text()


@pytest.mark.parametrize("value", [*ClassWeights, {}, {"cat": 2.0}, {"cat": 0.0, "dog": 1.0}])
def test_that_weights_come_back_unchanged_and_unannounced(field, value):
    heard = []
    field.valueChanged.connect(heard.append)
    field.setValue(value)
    field.set_classes(("cat", "dog"))
    assert field.value() == value
    assert heard == []


def test_that_each_class_that_was_found_has_a_number(field):
    heard = []
    field.valueChanged.connect(heard.append)
    choose(field, "By hand")
    assert heard == [{}]
    assert "once the data was read" in note(field)
    field.set_classes(("cat", "dog"))
    assert list(field.boxes()) == ["cat", "dog"]
    assert note(field) == ""
    field.boxes()["dog"].stepBy(1)
    assert heard[-1] == field.value() == {"dog": 2.0}
    field.boxes()["dog"].stepBy(-1)
    # What was said stays said.
    assert field.value() == {"dog": 1.0}
    choose(field, "Balanced")
    assert heard[-1] is ClassWeights.BALANCED
    choose(field, "By hand")
    assert heard[-1] == {"dog": 1.0}


def test_that_a_weight_of_a_class_that_is_not_there_stays_and_is_shown(field):
    field.setValue({"frog": 3.0})
    field.set_classes(("cat",))
    assert {name: box.value() for name, box in field.boxes().items()} == {"cat": 1.0, "frog": 3.0}


def test_that_weights_that_were_typed_for_other_data_are_forgotten(field):
    field.setValue({"frog": 3.0, "cat": 2.0})
    field.setValue(ClassWeights.NONE)
    field.set_classes(("cat", "dog"))
    choose(field, "By hand")
    assert field.value() == {"cat": 2.0}
    assert list(field.boxes()) == ["cat", "dog"]


def test_that_rows_are_made_when_they_are_seen(field):
    field.set_classes(("cat", "dog"))
    assert field.boxes() == {}


def test_that_of_many_classes_the_first_are_shown_and_the_others_counted(field):
    field.set_classes([f"class {number}" for number in range(1000)])
    choose(field, "By hand")
    assert len(field.boxes()) == 30
    assert note(field) == "970 more classes can be weighted in the profile."


def test_that_the_name_of_a_class_is_text_and_nothing_else(field):
    field.set_classes(("<b>cat</b>\n\x1b[31m",))
    choose(field, "By hand")
    texts = [label.text() for label in field.findChildren(QLabel)]
    assert any("<b>cat</b>" in text for text in texts)
    assert not any("\x1b" in text or "\n" in text for text in texts)
