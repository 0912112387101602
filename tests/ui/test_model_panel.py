import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.widgets.number_list_edit import NumberListEdit
from tests.ui.values import MODELS


@pytest.fixture
def panel(qtbot: QtBot) -> ModelPanel:
    panel = ModelPanel()
    qtbot.addWidget(panel)
    return panel


def _list(panel: ModelPanel, name: str) -> NumberListEdit:
    return next(
        each for each in panel.findChildren(NumberListEdit) if each.accessibleName() == name
    )


def _retype(qtbot: QtBot, edit: NumberListEdit, text: str) -> None:
    field = edit.findChild(QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, text)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=MODELS)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


def test_that_hidden_layers_are_typed_as_a_list(panel, qtbot):
    heard = []
    panel.valueChanged.connect(heard.append)
    _retype(qtbot, _list(panel, "Hidden layers"), "128, 64")
    assert panel.value().hidden == (128, 64)
    assert [value.hidden for value in heard][-2:] == [(128, 6), (128, 64)]
    assert len(heard) == len(set(heard))


def test_that_a_list_that_cannot_be_read_says_why_and_keeps_the_last_one(panel, qtbot):
    hidden = _list(panel, "Hidden layers")
    _retype(qtbot, hidden, "32 abc")
    assert panel.value().hidden == (32,)
    assert "“abc” is not a whole number" in hidden.complaint()
    _retype(qtbot, hidden, "32, 0")
    assert "between 1 and" in hidden.complaint()
    _retype(qtbot, hidden, "32, 10")
    assert hidden.complaint() == ""


def test_that_a_cnn_needs_at_least_one_convolution(panel, qtbot):
    panel.setValue(CnnModel(filters=(16,)))
    filters = _list(panel, "Filters")
    _retype(qtbot, filters, " ")
    assert "at least one" in filters.complaint()
    assert panel.value() == CnnModel(filters=(16,))


def test_that_each_kind_keeps_what_was_typed_for_it(panel, qtbot):
    _retype(qtbot, _list(panel, "Hidden layers"), "99")
    box = panel.findChild(QComboBox, "model_selector")
    box.setCurrentIndex(box.findData("cnn"))
    assert panel.value() == CnnModel()
    _retype(qtbot, _list(panel, "Filters"), "7, 8")
    box.setCurrentIndex(box.findData("mlp"))
    assert panel.value() == MlpModel(hidden=(99,))
    box.setCurrentIndex(box.findData("cnn"))
    assert panel.value() == CnnModel(filters=(7, 8))


def test_that_filters_are_asked_for_a_cnn_only(panel):
    assert _list(panel, "Filters").isHidden()
    panel.setValue(CnnModel())
    assert not _list(panel, "Filters").isHidden()
