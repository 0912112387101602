"""A device for each layer of the model."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.plan import LogicalPlace
from gpupanel.domain.setting import setting_of
from gpupanel.domain.strategy import StrategySettings
from gpupanel.planning.layers import ModelLayer
from gpupanel.ui import formatting, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.widgets.layouts import discard
from gpupanel.ui.widgets.tips import teach, wrapped

_PLACEMENT_TIP = setting_of(StrategySettings, "placement").description
_BEFORE = "before"
_FOLLOWS = Choice(_BEFORE, "same device", "On the device of the layer before it.")
_ICON = 12
_HEADINGS = (
    ("Layer", "Keras's name of the layer, in the order of the forward pass."),
    ("Parameters", "Parameters of the layer: weights, biases and statistics."),
    ("Device", _PLACEMENT_TIP),
)


class PlacementEditor(QWidget):
    """A row per layer that holds weights: its name, its size, and the device that it stands on."""

    valueChanged = Signal(object)
    """A person moved a layer: the whole placement, a dict of layer name to place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("placement_editor")
        self.setAccessibleName("Device of each layer")
        self._placement: dict[str, int] = {}
        self._layers: tuple[ModelLayer, ...] = ()
        self._places: tuple[LogicalPlace, ...] = ()
        self._device_labels = DeviceLabels()
        self._choosers: dict[str, ChoiceBox] = {}
        self._cells: list[QWidget] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        for column, (heading, tip) in enumerate(_HEADINGS):
            label = QLabel(heading)
            label.setProperty("tone", "muted")
            label.setProperty("textSize", "small")
            label.setToolTip(wrapped(tip))
            if heading == "Parameters":
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(label, 0, column)
        theme.changes.changed.connect(self._offer_places)

    def value(self) -> dict[str, int]:
        """The placement as shown; names of layers that the model does not have stay in it."""
        return dict(self._placement)

    def setValue(self, placement: Mapping[str, int]) -> None:
        """Shows another placement silently."""
        self._placement = dict(placement)
        for name, chooser in self._choosers.items():
            place = self._placement.get(name)
            if place is None:
                chooser.setValue(_BEFORE, unoffered="no device")
            else:
                chooser.setValue(str(place), unoffered="{}: no such device")

    def setLayers(self, layers: Sequence[ModelLayer]) -> None:
        """The layers of the model, as it is chosen now."""
        if tuple(layers) == self._layers:
            return
        same_names = [layer.name for layer in layers] == [layer.name for layer in self._layers]
        self._layers = tuple(layers)
        if same_names:
            for layer, cell in zip(layers, self._cells[1::2], strict=False):
                if isinstance(cell, QLabel):
                    cell.setText(formatting.count(layer.parameters))
            return
        self._build()

    def setPlaces(self, places: Sequence[LogicalPlace], device_labels: DeviceLabels) -> None:
        """The logical devices that layers can stand on."""
        if (tuple(places), device_labels) != (self._places, self._device_labels):
            self._places, self._device_labels = tuple(places), device_labels
            self._offer_places()

    def _build(self) -> None:
        discard(self._grid, (*self._cells, *self._choosers.values()))
        self._cells, self._choosers = [], {}
        for row, layer in enumerate(self._layers, start=1):
            name = QLabel(layer.name)
            name.setToolTip(wrapped(f"{layer.name}: {layer.what}."))
            size = QLabel(formatting.count(layer.parameters))
            size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            chooser = ChoiceBox((_FOLLOWS,))
            chooser.setElideMode(Qt.TextElideMode.ElideMiddle)
            chooser.setObjectName(f"place_of_{layer.name}")
            teach(chooser, f"Device of {layer.name}", _PLACEMENT_TIP)
            chooser.valueChanged.connect(partial(self._move, layer.name))
            self._choosers[layer.name] = chooser
            self._cells += [name, size]
            for column, cell in enumerate((name, size, chooser)):
                self._grid.addWidget(cell, row, column)
        self._offer_places()

    def _offer_places(self) -> None:
        choices = tuple(
            Choice(str(index), self._label(index), "") for index in range(len(self._places))
        )
        icons = [_dot(self._device_labels.color(place.device_key)) for place in self._places]
        for number, chooser in enumerate(self._choosers.values()):
            # The first layer has none before it.
            chooser.setOffered(choices if number == 0 else (*choices, _FOLLOWS))
            for index, icon in enumerate(icons):
                chooser.setItemIcon(index, icon)
        self.setValue(self._placement)

    def _label(self, index: int) -> str:
        """The place's number in the profile with its device, and its part of a split one."""
        place = self._places[index]
        device = self._device_labels.label(place.device_key)
        same = [each for each in self._places if each.device_key == place.device_key]
        part = f", {place.logical_device.rpartition('device:')[2]}" if len(same) > 1 else ""
        return f"{index}: {device}{part}"

    def _move(self, name: str, choice: str) -> None:
        placement = {key: place for key, place in self._placement.items() if key != name}
        if choice != _BEFORE:
            placement[name] = int(choice)
        order = {layer.name: number for number, layer in enumerate(self._layers)}
        self._placement = dict(
            sorted(placement.items(), key=lambda item: order.get(item[0], len(order)))
        )
        self.valueChanged.emit(self.value())


def _dot(color: QColor) -> QIcon:
    pixmap = QPixmap(_ICON * 2, _ICON * 2)
    pixmap.setDevicePixelRatio(2.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(QRectF(1.0, 1.0, _ICON - 2.0, _ICON - 2.0))
    painter.end()
    return QIcon(pixmap)
