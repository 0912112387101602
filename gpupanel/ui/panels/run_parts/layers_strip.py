"""Which layer stands on which device, as the run placed them."""

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.event_details import PlacedLayer
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import Caption, ElidedLabel
from gpupanel.ui.widgets.layouts import CellGrid, column_in
from gpupanel.ui.widgets.tips import wrapped


class LayersStrip(QWidget):
    """A row for each logical device: its colour, its parameters, its layers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("layers_strip")
        self.setAccessibleName("Layers on devices")
        self._shown: tuple[tuple[PlacedLayer, ...], DeviceLabels] | None = None
        self._rows = CellGrid(stretched=3)
        layout = column_in(self, spacing=4)
        layout.addWidget(Caption("Layers"))
        layout.addWidget(self._rows)

    def setLayers(self, layers: Sequence[PlacedLayer], device_labels: DeviceLabels) -> None:
        """Shows where each layer went."""
        if self._shown == (tuple(layers), device_labels):
            return
        self._shown = (tuple(layers), device_labels)
        self.setAccessibleDescription("")
        places = sorted({layer.place for layer in layers})
        self._rows.set_cells(
            self._row([layer for layer in layers if layer.place == place], device_labels)
            for place in places
        )

    def _row(
        self, layers: Sequence[PlacedLayer], device_labels: DeviceLabels
    ) -> tuple[QWidget, ...]:
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
        return ColorDot(device_labels.index(first.device_key)), where, size, listed
