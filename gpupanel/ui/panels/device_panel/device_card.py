"""The card of one device."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import MemoryPolicy
from gpupanel.domain.telemetry import DeviceReading, DeviceState
from gpupanel.ui.panels.device_panel.memory_editor import MemoryEditor
from gpupanel.ui.panels.device_panel.readings_view import ReadingsView, memory_use
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.quiet_inputs import SpinBox
from gpupanel.ui.widgets.switch import Switch
from gpupanel.ui.widgets.tone import Tone, set_tone


class DeviceCard(QFrame):
    """Name, use, readings and, where the device is in use, how much of it to use.

    Args:
        index: Position of the device in the inventory: decides its colour.
        label: A short name that no other device of this machine has.
    """

    useChanged = Signal(str, bool)
    """The device's key, and whether a person switched it on."""
    policyChanged = Signal(str, object)
    """The device's key, and the memory policy that a person chose."""
    replicasChanged = Signal(int)

    def __init__(
        self, device: PhysicalDevice, index: int, label: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._device = device
        self._reading: DeviceReading | None = None
        self._own_processes: frozenset[int] = frozenset()
        self._is_editable = True
        self._dot = ColorDot(index)
        self._name = ElidedLabel(label)
        self._name.setProperty("role", "title")
        self._name.setToolTip(_about(device))
        self._switch = Switch()
        self._switch.setAccessibleName(f"Use {label}")
        self._lost = QLabel("Lost: it stopped answering. Its driver's log may say why.")
        self._lost.setWordWrap(True)
        set_tone(self._lost, Tone.ERROR)
        self._readings = ReadingsView(device, index)
        self._memory = MemoryEditor()
        self._memory.setRoom(device.memory_total_mib or 0, None)
        self._replicas = SpinBox()
        self._settings = self._memory if device.is_gpu else self._replicas_row()
        self._arrange()
        self._switch.clicked.connect(self._take_use)
        self._memory.valueChanged.connect(self._take_policy)
        self._replicas.valueChanged.connect(self.replicasChanged)
        self.setUse(in_use=False, is_only_one=False)

    @property
    def device(self) -> PhysicalDevice:
        """The device that the card is about."""
        return self._device

    def setUse(self, *, in_use: bool, is_only_one: bool) -> None:
        """Show whether the device is in use; the only one that is cannot be switched off."""
        self._switch.setChecked(in_use)
        self._switch.setEnabled(self._is_editable and not is_only_one)
        self._dot.setFilled(in_use)
        self._settings.setVisible(in_use)
        if is_only_one:
            tip = "The only device in use: switch on another one before this one goes off."
        elif in_use:
            tip = "In use: the run trains on this device. Switch it off to leave it alone."
        else:
            tip = "Not in use: the run does not touch this device. Switch it on to train on it."
        self._switch.setToolTip(tip)

    def setPolicy(self, policy: MemoryPolicy) -> None:
        """Show that memory policy."""
        if self._memory.value() != policy:
            self._memory.setValue(policy)
        self._show_reading()

    def setReplicas(self, replicas: int) -> None:
        """Show so many logical devices of the CPU."""
        with QSignalBlocker(self._replicas):
            self._replicas.setMaximum(max(self._device.core_count or 1, replicas, 2))
            self._replicas.setValue(replicas)

    def setEditable(self, editable: bool) -> None:
        """Let a person change the settings, or not; :meth:`setUse` minds it too."""
        self._is_editable = editable
        self._settings.setEnabled(editable)

    def setOwnProcesses(self, pids: frozenset[int]) -> None:
        """Tell which processes are of the run shown."""
        self._own_processes = pids
        self._show_reading()

    def addReading(self, reading: DeviceReading | None) -> None:
        """Show what the device reported now; ``None``: it is missing from the sample."""
        self._reading = reading
        self._readings.add_reading(reading)
        self._lost.setVisible(reading is not None and reading.state is DeviceState.LOST)
        self._show_reading()

    def _show_reading(self) -> None:
        shown = self._memory.value() if self._device.is_gpu and self._switch.isChecked() else None
        use = memory_use(self._device, self._reading, self._own_processes, shown)
        self._readings.show_reading(self._reading, use)
        known = self._reading is not None and self._reading.memory_used_mib is not None
        total = use.total_mib or 0
        self._memory.setRoom(total, max(0, total - use.others_mib) if known else None)

    def _replicas_row(self) -> QWidget:
        row = QWidget()
        caption = QLabel("Logical replicas")
        caption.setBuddy(self._replicas)
        self._replicas.setRange(1, max(self._device.core_count or 1, 2))
        self._replicas.setAccessibleName("Logical replicas of the CPU")
        self._replicas.setToolTip(
            "How many logical devices to make of the CPU. A replica is one copy of the model;\n"
            "with two or more, a mirrored strategy can be tried out without any GPU."
        )
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(caption, 1)
        layout.addWidget(self._replicas)
        return row

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._dot)
        head.addWidget(self._name, 1)
        head.addWidget(self._switch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, GRID, 12, 12)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self._lost)
        layout.addWidget(self._readings)
        layout.addWidget(self._settings)
        self._lost.hide()

    @Slot(bool)
    def _take_use(self, on: bool) -> None:
        self.useChanged.emit(self._device.key, on)

    @Slot(object)
    def _take_policy(self, policy: MemoryPolicy) -> None:
        self._show_reading()
        self.policyChanged.emit(self._device.key, policy)


def _about(device: PhysicalDevice) -> str:
    """All that is known of a device, a line each."""
    lines = [device.name]
    if device.compute_capability is not None:
        major, minor = device.compute_capability
        lines.append(f"Compute capability {major}.{minor}")
    if device.core_count is not None:
        lines.append(f"{device.core_count} logical processors")
    if device.pci_bus_id is not None:
        lines.append(f"PCI bus {device.pci_bus_id}")
    if device.is_gpu:
        lines.append(device.key)
    return "\n".join(lines)
