"""How much memory of each device the run may take, in words."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.note import Note
from gpupanel.ui.widgets.tips import wrapped

_WORDS_WIDTH = 200
"""In pixels: a long name is shortened before the words beside it wrap."""


class MemoryList(QWidget):
    """A row per device: its colour, its name, what it gives."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Memory per device")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        self._grid.setColumnMinimumWidth(2, _WORDS_WIDTH)
        self._cells: list[QWidget] = []
        self._shown: tuple[LaunchPlan, DeviceLabels] | None = None

    def setPlan(self, plan: LaunchPlan, device_labels: DeviceLabels) -> None:
        """Shows the devices of a plan."""
        if self._shown == (plan, device_labels):
            return
        self._shown = (plan, device_labels)
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = []
        for row, device in enumerate(plan.devices):
            cells: tuple[QWidget, ...] = (
                ColorDot(device_labels.index(device.key)),
                _name(device_labels.label(device.key, device.name)),
                _gift(device, plan, device_labels),
            )
            for place, cell in enumerate(cells):
                self._grid.addWidget(cell, row, place)
            self._cells.extend(cells)


def _name(label: str) -> ElidedLabel:
    """Its end tells the device from its like."""
    name = ElidedLabel(label)
    name.setElideMode(Qt.TextElideMode.ElideMiddle)
    return name


def _gift(device: PlannedDevice, plan: LaunchPlan, device_labels: DeviceLabels) -> Note:
    physical = device_labels.inventory.device(device.key) if device_labels.inventory else None
    note = Note(plan_text.memory(device, plan, physical.memory_total_mib if physical else None))
    note.setToolTip(wrapped(plan_text.CUDA_CONTEXT_LESSON) if device.kind is DeviceKind.GPU else "")
    return note
