"""Which process of a run is where, and what each device gives."""

from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedProcess, ProcessRole
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import NameLabel, Note
from gpupanel.ui.widgets.layouts import CellGrid, row_in
from gpupanel.ui.widgets.tips import wrapped

_LONGEST = 30
"""Characters: the name of a node may be as long as that of a host, and is shortened."""
_DOES = {
    ProcessRole.TRAINER: "trains",
    ProcessRole.WORKER: "computes",
    ProcessRole.COORDINATOR: "coordinator: hands out batches",
    ProcessRole.PARAMETER_SERVER: "stores weights",
}
_TIP = "A separate process. It sees only these devices, and TensorFlow numbers them from 0."


class ProcessTable(CellGrid):
    """A row per process: its name, what it does, its devices in their colours."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(stretched=2, spacing=12, parent=parent)
        self.setObjectName("process_table")
        self.setAccessibleName("Processes")
        self._shown: tuple[tuple[PlannedProcess, ...], DeviceLabels] | None = None

    def setPlan(self, plan: LaunchPlan, device_labels: DeviceLabels) -> None:
        """Shows the processes of a plan."""
        if self._shown == (plan.gang, device_labels):
            return
        self._shown = (plan.gang, device_labels)

        def cells(place: int, process: PlannedProcess) -> tuple[QWidget, ...]:
            devices = _devices(process, device_labels)
            return _name(process), devices, _role(process, is_first=not place)

        self.set_rows(plan.gang, cells, Note)


def _name(process: PlannedProcess) -> QLabel:
    called = process.name.removeprefix("the ")
    called = f"{called[:1].upper()}{called[1:]}"
    name = NameLabel(called) if len(called) > _LONGEST else QLabel(called)
    name.setToolTip(wrapped(_TIP))
    return name


def _role(process: PlannedProcess, *, is_first: bool) -> Note:
    leads = " (chief)" if is_first and process.role is ProcessRole.WORKER else ""
    return Note(f"{_DOES[process.role]}{leads}")


def _devices(process: PlannedProcess, device_labels: DeviceLabels) -> QWidget:
    """The dots and names of the devices that a process sees; none but the host for a server."""
    cell = QWidget()
    layout = row_in(cell)
    for device in process.devices:
        layout.addWidget(ColorDot(device_labels.color_number(device.key)))
        label = device_labels.label(device.key, device.name)
        # The node is the process's, whose name has it.
        layout.addWidget(NameLabel(label.removesuffix(f" \N{MIDDLE DOT} {process.node}")))
    if not process.devices:
        none = QLabel("no device")
        none.setProperty("tone", "muted")
        layout.addWidget(none)
    layout.addStretch(1)
    return cell


_WORDS_WIDTH = 140
"""In pixels: beside a long name the words wrap before so little of it is left that it says
nothing."""


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

        def cells(_place: int, device: PlannedDevice) -> tuple[QWidget, ...]:
            return (
                ColorDot(device_labels.color_number(device.key)),
                NameLabel(device_labels.label(device.key, device.name)),
                _memory(device, plan, device_labels),
            )

        self.set_rows(plan.devices, cells, Note)


def _memory(device: PlannedDevice, plan: LaunchPlan, device_labels: DeviceLabels) -> Note:
    physical = device_labels.inventory.device(device.key) if device_labels.inventory else None
    note = Note(plan_text.memory(device, plan, physical.memory_total_mib if physical else None))
    note.setToolTip(wrapped(plan_text.CUDA_CONTEXT_LESSON) if device.kind is DeviceKind.GPU else "")
    return note
