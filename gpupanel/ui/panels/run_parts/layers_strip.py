"""Which layer stands on which device, as the run placed them."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.event_details import PlacedLayer
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.column import column
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.note import Caption
from gpupanel.ui.widgets.tips import wrapped


class LayersStrip(QWidget):
    """A row for each logical device: its colour, its parameters, its layers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("layers_strip")
        self.setAccessibleName("Layers on devices")
        self._shown: tuple[tuple[PlacedLayer, ...], DeviceLabels] | None = None
        self._cells: list[QWidget] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(3, 1)
        layout = column(self, spacing=4)
        layout.addWidget(Caption("Layers"))
        layout.addLayout(self._grid)

    def setLayers(self, layers: Sequence[PlacedLayer], device_labels: DeviceLabels) -> None:
        """Shows where each layer went."""
        if self._shown == (tuple(layers), device_labels):
            return
        self._shown = (tuple(layers), device_labels)
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = []
        self.setAccessibleDescription("")
        for row, place in enumerate(sorted({layer.place for layer in layers})):
            on_it = [layer for layer in layers if layer.place == place]
            self._add_row(row, on_it, device_labels)

    def _add_row(
        self, row: int, layers: Sequence[PlacedLayer], device_labels: DeviceLabels
    ) -> None:
        first = layers[0]
        parameters = sum(layer.parameters for layer in layers)
        # Activations, pooling and the like go with the layer before them.
        holding = [layer for layer in layers if layer.parameters] or layers
        names = ", ".join(layer.name for layer in holding)
        where = QLabel(f"{device_labels.label(first.device_key)}  {first.logical_device}")
        size = QLabel(f"{formatting.count(parameters)} parameters")
        size.setProperty("tone", "muted")
        listed = ElidedLabel(names)
        lines = "; ".join(
            f"{layer.name}: {formatting.count(layer.parameters)} parameters" for layer in layers
        )
        listed.setToolTip(wrapped(f"{lines}."))
        self.setAccessibleDescription(f"{self.accessibleDescription()} {where.text()}: {names}.")
        cells: tuple[QWidget, ...] = (
            ColorDot(device_labels.index(first.device_key)),
            where,
            size,
            listed,
        )
        for place, cell in enumerate(cells):
            self._grid.addWidget(cell, row, place)
        self._cells.extend(cells)
