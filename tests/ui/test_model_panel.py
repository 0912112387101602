import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.model import (
    ApplicationModel,
    CnnModel,
    MlpModel,
    PythonModel,
    ResNetModel,
    SavedModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note
from tests.ui.values import MODELS


@pytest.fixture
def panel(qtbot: QtBot) -> ModelPanel:
    panel = ModelPanel()
    qtbot.addWidget(panel)
    return panel


def _list(panel: ModelPanel, name: str) -> NumberListEdit:
    return next(
        each
        for each in panel.findChildren(NumberListEdit)
        if each.accessibleName() == name and each.isVisibleTo(panel)
    )


def _retype(qtbot: QtBot, edit: NumberListEdit, text: str) -> None:
    edit.selectAll()
    qtbot.keyClicks(edit, text)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    assert "“abc” is not a whole number" in hidden.error()
    _retype(qtbot, hidden, "32, 0")
    assert "between 1 and" in hidden.error()
    _retype(qtbot, hidden, "32, 10")
    assert hidden.error() == ""


def test_that_a_cnn_needs_at_least_one_convolution(panel, qtbot):
    panel.setValue(CnnModel(filters=(16,)))
    filters = _list(panel, "Filters")
    _retype(qtbot, filters, " ")
    assert "at least one" in filters.error()
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
    assert not _shown(panel, "Filters")
    panel.setValue(CnnModel())
    assert _shown(panel, "Filters")


def test_that_synchronising_is_offered_only_with_batch_normalisation(panel, qtbot):
    panel.setReplicaCount(2)
    next(each for each in panel.findChildren(FoldButton) if each.isVisibleTo(panel)).click()
    shown = (each for each in panel.findChildren(QCheckBox) if each.isVisibleTo(panel))
    boxes = {each.accessibleName(): each for each in shown}
    norm, synchronized = (
        boxes["Batch normalisation"],
        boxes["Synchronised over the replicas"],
    )
    assert not synchronized.isEnabled()
    norm.click()
    assert synchronized.isEnabled()
    qtbot.keyClick(synchronized, Qt.Key.Key_Space)
    assert panel.value() == MlpModel(batch_norm=True, batch_norm_synchronized=False)


@pytest.mark.parametrize("value", [MlpModel(batch_norm=True), CnnModel(batch_norm=True)])
def test_that_synchronising_is_offered_only_over_several_replicas(panel, value):
    name = "Synchronised over the replicas"
    panel.setReplicaCount(2)
    panel.setValue(value)
    assert _shown(panel, name)
    panel.setReplicaCount(1)
    assert not _shown(panel, name)
    # What is set otherwise stays in sight.
    panel.setValue(value.model_copy(update={"batch_norm_synchronized": False}))
    assert _shown(panel, name)
    panel.setTrains(False)
    assert not _shown(panel, name)
    panel.setTrains(True)
    panel.setReplicaCount(2)
    panel.setValue(value)
    assert _shown(panel, name)


def _shown(panel: ModelPanel, name: str) -> bool:
    return any(
        each.accessibleName() == name and each.isVisibleTo(panel)
        for each in panel.findChildren(QWidget)
    )


def test_that_a_saved_model_is_a_path_and_nothing_else(panel, qtbot):
    panel.setTrains(False)
    panel.setValue(SavedModel())
    assert _shown(panel, "File")
    assert not any(_shown(panel, name) for name in ("Kind", "Hidden layers", "Dropout"))
    empty = next(note for note in panel.findChildren(Note) if "No model was chosen" in note.text())
    assert not empty.isHidden()
    heard = []
    panel.valueChanged.connect(heard.append)
    field = panel.findChild(PathEdit).findChild(QLineEdit)
    qtbot.keyClicks(field, "m.keras")
    assert heard[-1] == SavedModel(path="m.keras")
    assert empty.isHidden()


def test_that_training_offers_every_kind_and_other_tasks_a_saved_model(panel):
    box = panel.findChild(QComboBox, "model_selector")
    panel.setValue(SavedModel(path="m.keras"))
    assert box.currentText() == "Saved model: a .keras file"
    panel.setTrains(False)
    panel.setValue(CnnModel())
    assert box.currentText() == "CNN (not trained yet)"
    box.setCurrentIndex(box.findData("saved"))
    assert panel.value() == SavedModel(path="m.keras")
    panel.setTrains(True)
    assert [box.itemData(index) for index in range(2)] == ["mlp", "cnn"]


@pytest.mark.parametrize(
    ("name", "asked", "path"),
    [
        ("model.keras", SavedModel(), "/runs/model.keras"),
        ("model.h5", SavedModel(), ""),
        ("network.py", SavedModel(), ""),
    ],
)
def test_that_a_model_file_can_be_dropped_where_one_is_asked_for(panel, name, asked, path):
    panel.setTrains(False)
    drop(panel, name, asked)
    assert panel.value().path == path


@pytest.mark.parametrize("name", ["model.keras", "network.py"])
@pytest.mark.parametrize("asked", [MlpModel(), SavedModel()])
def test_that_training_takes_a_dropped_model_of_any_kind(panel, name, asked):
    drop(panel, name, asked)
    assert panel.value().path == f"/runs/{name}"


def test_that_settings_of_a_models_training_are_shown_where_it_is_trained(panel):
    panel.setReplicaCount(2)
    panel.setValue(SavedModel(path="m.keras"))
    of_training = {"Last layer", "Frozen layers", "Advanced"}
    assert of_training | {"File"} <= shown_names(panel)
    panel.setTrains(False)
    assert not of_training & shown_names(panel)
    assert "File" in shown_names(panel)
    panel.setTrains(True)
    assert of_training <= shown_names(panel)


def shown_names(panel):
    """What a screen reader calls the widgets that are shown."""
    return {
        each.accessibleName() for each in panel.findChildren(QWidget) if each.isVisibleTo(panel)
    }


def drop(panel, name, asked):
    panel.setValue(asked)
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(f"/runs/{name}")])
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    panel.dropEvent(QDropEvent(QPointF(5, 5), action, dropped, button, none))


def test_that_weights_that_are_dropped_are_what_an_architecture_begins_with(panel):
    panel.setValue(ApplicationModel(source="VGG16", dropout=0.2))
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile("/runs/base.weights.h5")])
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    panel.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, dropped, button, none))
    expected = ApplicationModel(source="VGG16", dropout=0.2, weights="/runs/base.weights.h5")
    assert panel.value() == expected


def test_that_code_says_that_it_runs_when_a_run_is_started(panel):
    panel.setValue(PythonModel())
    note = panel.findChild(Note)
    assert "No Python file" in note.text()
    panel.setValue(PythonModel(path="/network.py"))
    assert "executed when a run starts" in note.text()


@pytest.mark.parametrize("kind", [MlpModel, CnnModel, ResNetModel, TransformerModel, TabularModel])
def test_that_what_a_beginner_does_not_need_of_a_model_is_folded_away(qtbot, kind):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.setReplicaCount(1)
    panel.setValue(kind())
    panel.show()
    (fold,) = (each for each in panel.findChildren(FoldButton) if each.isVisible())
    dropout = _visible(panel, "Dropout")
    assert dropout == []
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert len(_visible(panel, "Dropout")) == 1
    panel.setValue(MlpModel())
    panel.setValue(kind(dropout=0.25))
    assert len(_visible(panel, "Dropout")) == 1, "a value that is set is seen"


def _visible(panel, name):
    found = [each for each in panel.findChildren(QWidget) if each.accessibleName() == name]
    return [each for each in found if each.isVisible() and each.focusProxy() is None]


def test_that_the_panel_shows_that_it_takes_what_is_held_over_it(panel):
    panel.setValue(ApplicationModel(source="VGG16"))
    for name, is_taken in (("base.weights.h5", True), ("notes.txt", False)):
        held = QMimeData()
        held.setUrls([QUrl.fromLocalFile(f"/runs/{name}")])
        by = (Qt.DropAction.CopyAction, held, Qt.MouseButton.LeftButton)
        entering = QDragEnterEvent(QPoint(5, 5), *by, Qt.KeyboardModifier.NoModifier)
        panel.dragEnterEvent(entering)
        assert entering.isAccepted() is is_taken
        assert (panel.property("hovered") == "true") is is_taken
        panel.dragLeaveEvent(QDragLeaveEvent())
        assert panel.property("hovered") is None
