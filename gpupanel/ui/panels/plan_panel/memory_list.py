"""How much memory of each device the run may take, in words."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import ElidedLabel, Note
from gpupanel.ui.widgets.layouts import CellGrid
from gpupanel.ui.widgets.tips import wrapped

_WORDS_WIDTH = 200
"""In pixels: a long name is shortened before the words beside it wrap."""


class MemoryList(CellGrid):
    """A row per device: its colour, its name, what it gives."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(stretched=2, parent=parent)
        self.setAccessibleName("Memory per device")
        self.grid.setColumnMinimumWidth(2, _WORDS_WIDTH)
        self._shown: tuple[LaunchPlan, DeviceLabels] | None = None

    def setPlan(self, plan: LaunchPlan, device_labels: DeviceLabels) -> None:
        """Shows the devices of a plan."""
        if self._shown == (plan, device_labels):
            return
        self._shown = (plan, device_labels)
        self.set_cells(
            (
                ColorDot(device_labels.index(device.key)),
                _device_name(device_labels.label(device.key, device.name)),
                _memory(device, plan, device_labels),
            )
            for device in plan.devices
        )


def _device_name(label: str) -> ElidedLabel:
    """Its end tells the device from its like."""
    name = ElidedLabel(label)
    name.setElideMode(Qt.TextElideMode.ElideMiddle)
    return name


def _memory(device: PlannedDevice, plan: LaunchPlan, device_labels: DeviceLabels) -> Note:
    physical = device_labels.inventory.device(device.key) if device_labels.inventory else None
    note = Note(plan_text.memory(device, plan, physical.memory_total_mib if physical else None))
    note.setToolTip(wrapped(plan_text.CUDA_CONTEXT_LESSON) if device.kind is DeviceKind.GPU else "")
    return note
