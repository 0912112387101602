"""Which process of a run sees which devices."""

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from gpupanel.domain.plan import LaunchPlan, PlannedProcess, ProcessRole
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.note import Note
from gpupanel.ui.widgets.tips import wrapped

_DOES = {
    ProcessRole.TRAINER: "trains",
    ProcessRole.WORKER: "computes",
    ProcessRole.COORDINATOR: "coordinator: hands out batches",
    ProcessRole.PARAMETER_SERVER: "stores weights",
}
_TIP = (
    "A separate process on this machine. It sees only these devices, and TensorFlow numbers "
    "them from 0."
)


class ProcessTable(QWidget):
    """A row per process: its name, what it does, its devices in their colours."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("process_table")
        self.setAccessibleName("Processes")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        self._cells: list[QWidget] = []
        self._shown: tuple[tuple[PlannedProcess, ...], DeviceLabels] | None = None

    def setPlan(self, plan: LaunchPlan, device_labels: DeviceLabels) -> None:
        """Shows the processes of a plan."""
        if self._shown == (plan.gang, device_labels):
            return
        self._shown = (plan.gang, device_labels)
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = []
        for row, process in enumerate(plan.gang):
            name = QLabel(process.name.removeprefix("the ").capitalize())
            name.setToolTip(wrapped(_TIP))
            leads = " (chief)" if row == 0 and process.role is ProcessRole.WORKER else ""
            cells: tuple[QWidget, ...] = (
                name,
                _devices(process, device_labels),
                Note(f"{_DOES[process.role]}{leads}"),
            )
            for place, cell in enumerate(cells):
                self._grid.addWidget(cell, row, place)
            self._cells.extend(cells)


def _devices(process: PlannedProcess, device_labels: DeviceLabels) -> QWidget:
    """The dots and names of the devices that a process sees; none but the host for a server."""
    cell = QWidget()
    layout = QHBoxLayout(cell)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(8)
    for device in process.devices:
        layout.addWidget(ColorDot(device_labels.index(device.key)))
        layout.addWidget(QLabel(device_labels.label(device.key, device.name)))
    if not process.devices:
        none = QLabel("no device")
        none.setProperty("tone", "muted")
        layout.addWidget(none)
    layout.addStretch(1)
    return cell
