"""Which replica and which process of a run is where, what it takes, and what each device gives."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedProcess, ProcessRole
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import NameLabel, Note
from gpupanel.ui.widgets.layouts import CellGrid, row_in
from gpupanel.ui.widgets.tips import wrapped

_LONGEST = 30
"""Characters: the name of a node may be as long as that of a host, and is shortened."""
_HEADINGS = (
    ("Replica", "One copy of the model; counted from 0, as TensorFlow counts."),
    ("Physical device", "One GPU as NVML lists it, or the host's CPU."),
    ("Logical device", "TensorFlow's device; several per GPU when it is split."),
    ("Share", "Examples of each global batch that the replica takes."),
)


class ReplicaTable(CellGrid):
    """A row per replica, or per place for layers; built anew only when the plan is another."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(stretched=2, spacing=12, first=1, parent=parent)
        self.setAccessibleName("Replicas")
        labels = [QLabel(heading) for heading, _ in _HEADINGS]
        self._numbers, self._shares = labels[0], labels[-1]
        for place, (label, (heading, tip)) in enumerate(zip(labels, _HEADINGS, strict=True)):
            label.setProperty("tone", "muted")
            label.setProperty("textSize", "small")
            label.setToolTip(wrapped(tip))
            self.grid.addWidget(label, 0, place + 1 if place else 0, 1, 1 if place else 2)
            if heading == "Share":
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._shown: tuple[LaunchPlan, DeviceLabels, bool] | None = None

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._shown is not None

    def setPlan(
        self, plan: LaunchPlan, device_labels: DeviceLabels, *, of_program: bool = False
    ) -> None:
        """Shows the replicas of a plan.

        Args:
            plan: What would be launched.
            device_labels: Of the devices.
            of_program: A program of the person's own sees these devices: what it does with them,
                and how large a batch of it is, nobody knows.
        """
        if self._shown == (plan, device_labels, of_program):
            return
        self._shown = (plan, device_labels, of_program)
        number = "Number" if of_program else "Replica"
        self._numbers.setText("Place" if plan.places else number)
        divides = not plan.places or len(plan.replicas) > 1
        self._shares.setVisible(divides and not of_program)

        def cells(number: int, row: tuple[str, str, str]) -> tuple[QWidget, ...]:
            key, logical, share = row
            return (
                ColorDot(device_labels.color_number(key)),
                QLabel(str(number)),
                NameLabel(device_labels.label(key)),
                _copyable(logical),
                *([] if of_program else [_number(share)]),
            )

        self.set_rows(_rows(plan), cells, Note)


def _rows(plan: LaunchPlan) -> list[tuple[str, str, str]]:
    """Device, logical device (in its process) and share of each replica, or of each place."""
    if plan.places:
        shares = ["" if len(plan.replicas) == 1 else formatting.count(each) for each in plan.shares]
        return [
            (place.device_key, place.logical_device, shares[number // plan.stage_count])
            for number, place in enumerate(plan.places)
        ]
    names = [f"{process.name}: " if len(plan.gang) > 1 else "" for process in plan.gang]
    return [
        (
            replica.device_key,
            f"{names[replica.process]}{replica.logical_device}",
            formatting.count(replica.share),
        )
        for replica in plan.replicas
    ]


def _copyable(text: str) -> QLabel:
    if len(text) > _LONGEST:
        return NameLabel(text)
    label = QLabel(text)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _number(text: str) -> QLabel:
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label


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
