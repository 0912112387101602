"""Layers are placed by mouse and keyboard, in the colours of the devices."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLabel

from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.layers import model_layers
from gpupanel.planning.prepare import prepare
from gpupanel.ui import theme
from gpupanel.ui.panels.strategy_panel import StrategyPanel
from gpupanel.ui.panels.strategy_panel.placement_editor import PlacementEditor
from gpupanel.ui.widgets.labels import Note
from tests.ui.values import TWO_GPUS

LAYERS = model_layers(MlpModel(hidden=(128, 64)), (8, 8), 10)


@pytest.fixture
def panel(qtbot) -> StrategyPanel:
    panel = StrategyPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    panel.setValue(StrategySettings(kind=StrategyKind.MODEL_PARALLEL))
    panel.setLayers(LAYERS)
    panel.setPlan(prepare(Profile(strategy=panel.value()), TWO_GPUS).plan)
    return panel


def _choose(panel: StrategyPanel, name: str, value: str) -> None:
    box = panel.findChild(QComboBox, name)
    box.setCurrentIndex(box.findData(value))


def test_that_by_hand_starts_from_an_even_split_and_goes_back_to_auto(panel):
    _choose(panel, "placement_chooser", "by_hand")
    assert panel.value().placement == {"dense_1": 0, "dense_2": 1, "outputs": 1}
    assert not panel.findChild(PlacementEditor).isHidden()
    _choose(panel, "placement_chooser", "auto")
    assert panel.value().placement == "auto"
    assert panel.findChild(PlacementEditor).isHidden()


def test_that_a_layer_moves_to_another_device(panel, qtbot):
    _choose(panel, "placement_chooser", "by_hand")
    chooser = panel.findChild(QComboBox, "place_of_dense_2")
    assert chooser.currentText() == "1: RTX 3060"
    qtbot.keyClick(chooser, Qt.Key.Key_Up)
    assert panel.value().placement == {"dense_1": 0, "dense_2": 0, "outputs": 1}


def test_that_a_layer_can_go_with_the_one_before_it(panel):
    _choose(panel, "placement_chooser", "by_hand")
    _choose(panel, "place_of_outputs", "before")
    assert panel.value().placement == {"dense_1": 0, "dense_2": 1}
    assert panel.findChild(QComboBox, "place_of_dense_1").findData("before") < 0


def test_that_a_device_is_shown_in_its_colour(panel):
    _choose(panel, "placement_chooser", "by_hand")
    icon = panel.findChild(QComboBox, "place_of_outputs").itemIcon(1)
    middle = icon.pixmap(12, 12).toImage()
    color = middle.pixelColor(middle.width() // 2, middle.height() // 2)
    assert color == QColor(theme.device_color(1))


def test_that_layers_show_their_size_and_follow_the_model(panel):
    _choose(panel, "placement_chooser", "by_hand")
    editor = panel.findChild(PlacementEditor)
    words = [label.text() for label in editor.findChildren(QLabel)]
    assert "8,320" in words
    panel.setLayers(model_layers(MlpModel(hidden=(128, 64))))
    assert "8,320" not in [label.text() for label in editor.findChildren(QLabel)]
    panel.setLayers(model_layers(MlpModel(hidden=(7,))))
    assert panel.findChild(QComboBox, "place_of_dense_1") is not None
    assert panel.value().placement == {"dense_1": 0, "dense_2": 1, "outputs": 1}


def test_that_a_place_that_is_not_there_is_shown_truthfully(panel):
    panel.setValue(
        StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_2": 7, "gone": 0})
    )
    assert panel.findChild(QComboBox, "place_of_dense_1").currentText() == "no device"
    assert panel.findChild(QComboBox, "place_of_dense_2").currentText() == "7: no such device"
    assert panel.findChild(QComboBox, "place_of_outputs").currentText() == "same device"
    _choose(panel, "place_of_dense_1", "1")
    assert panel.value().placement == {"dense_1": 1, "dense_2": 7, "gone": 0}


def test_that_without_a_plan_a_placement_by_hand_is_refused_in_words(panel):
    panel.setPlan(None)
    _choose(panel, "placement_chooser", "by_hand")
    assert panel.value().placement is None
    assert any("fix the problems first" in note.text() for note in panel.findChildren(Note))


def test_that_layers_that_are_known_once_they_are_built_are_placed_then(panel, qtbot):
    panel.setLayers(())
    with qtbot.waitSignal(panel.layersRequested):
        _choose(panel, "placement_chooser", "by_hand")
    assert panel.value().placement is None
    assert any("is built to list its layers" in note.text() for note in panel.findChildren(Note))
    panel.setLayers(LAYERS)
    assert panel.value().placement == {"dense_1": 0, "dense_2": 1, "outputs": 1}
    assert not any("is built" in note.text() for note in panel.findChildren(Note))


def test_that_a_model_that_cannot_be_built_is_said_to_be_and_places_nothing_later(panel):
    panel.setLayersProblem("of no interest: nobody asked")
    panel.setLayers(())
    _choose(panel, "placement_chooser", "by_hand")
    panel.setLayersProblem("Images are needed.")
    words = [note.text() for note in panel.findChildren(Note)]
    assert "Images are needed." in words
    assert not any("nobody asked" in text for text in words)
    panel.setLayers(LAYERS)
    assert panel.value().placement is None


def test_that_another_choice_meanwhile_is_not_overruled(panel):
    panel.setLayers(())
    _choose(panel, "placement_chooser", "by_hand")
    _choose(panel, "strategy_chooser", "mirrored")
    panel.setLayers(LAYERS)
    assert panel.value().kind is StrategyKind.MIRRORED
    assert panel.value().placement is None
