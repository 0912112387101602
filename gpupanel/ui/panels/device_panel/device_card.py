"""The card of one device."""

import time

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import Allocator, MemoryPolicy
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.setting import setting_of
from gpupanel.domain.telemetry import DeviceReading, DiskReading
from gpupanel.ui.forms.value_form import advanced_fold
from gpupanel.ui.inputs.quiet_inputs import SpinBox
from gpupanel.ui.panels.device_panel import device_state
from gpupanel.ui.panels.device_panel.details_view import DetailsFold
from gpupanel.ui.panels.device_panel.heads import CardHead
from gpupanel.ui.panels.device_panel.host_view import HostView
from gpupanel.ui.panels.device_panel.memory_editor import MemoryEditor
from gpupanel.ui.panels.device_panel.memory_shares import memory_use, room_mib
from gpupanel.ui.panels.device_panel.problem_note import ProblemNotes
from gpupanel.ui.panels.device_panel.readings_view import ReadingsView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import teach

_PARTITIONED = "In MIG mode: only its instances can compute. Each has its own card."


class DeviceCard(QFrame):
    """Name, use, readings and, where the device is in use, how much of it to use.

    Args:
        color: Number of the device's colour.
        label: A short name that no other device of this machine has.
    """

    useChanged = Signal(str, bool)
    """The device's key, and whether a person switched it on."""
    foldChanged = Signal(str, bool)
    """The device's key, and whether a person opened the card."""
    policyChanged = Signal(str, object)
    """The device's key, and the memory policy that a person chose."""
    applyRequested = Signal(str)
    """The key of the device that all GPUs in use are to be like."""
    powerRequested = Signal(object)
    """The power limit of this :class:`PhysicalDevice` is to be seen, or set."""

    def __init__(
        self, device: PhysicalDevice, color: int, label: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setProperty("nested", device.is_mig_instance)
        self._device, self._color = device, color
        self._reading: DeviceReading | None = None
        self._held = _held(None)
        self._own_processes: frozenset[int] = frozenset()
        self._is_open, self._is_in_use, self._in_line = True, False, False
        self._head = CardHead(device, color, label)
        self._state = QLabel()
        self._state.setWordWrap(True)
        self._state.setTextFormat(Qt.TextFormat.PlainText)
        self.readings = ReadingsView(device, color)
        """What the device does."""
        self.memory = MemoryEditor()
        """How much of a GPU is used."""
        self.memory.setCapability(device.compute_capability)
        self.memory.setRoom(device.memory_total_mib, None)
        self.replicas = SpinBox()
        """Into how many the CPU is divided."""
        self._more = advanced_fold()
        self._settings = self.memory if device.is_gpu else self._replicas_row()
        self._applied = Note()
        self._layout = QVBoxLayout(self)
        self.problems = ProblemNotes()
        """What is wrong with the settings of this device."""
        self.details = DetailsFold(device)
        self._host = HostView(color)
        self._arrange()
        self._connect()
        self.setUse(in_use=False)
        self.setOpen(is_open=True)
        self._show_state()

    @property
    def device(self) -> PhysicalDevice:
        """The device that the card is about."""
        return self._device

    @property
    def color(self) -> int:
        """The number of the device's colour."""
        return self._color

    @property
    def is_open(self) -> bool:
        """Whether all of it is shown."""
        return self._is_open

    def setInLine(self, *, in_line: bool) -> None:
        """Whether it is one line while it is folded, and not a few."""
        if in_line is not self._in_line:
            self._in_line = in_line
            self.setOpen(is_open=self._is_open)

    def setOpen(self, *, is_open: bool) -> None:
        """Show all of the card, or fold it."""
        self._is_open = is_open
        gap = GRID if is_open else GRID // 4 if self._in_line else GRID // 2
        if self._is_line:
            self._head.setBar(self.readings.bar)
        else:
            self.readings.take_bar_back()
        self._layout.setContentsMargins(12, gap, 12, gap)
        self._layout.setSpacing(gap)
        self._head.setOpen(is_open=is_open)
        self.readings.setOpen(is_open=is_open)
        self._show_parts()
        self.readings.show_reading(self._reading)
        self._show_memory()

    def setUse(self, *, in_use: bool, is_only_one: bool = False, can_switch: bool = True) -> None:
        """Show whether the device is in use, alone, and whether another could take its place."""
        self._is_in_use = in_use
        self._head.setUse(in_use=in_use, is_only_one=is_only_one, can_switch=can_switch)
        self._show_parts()
        self._show_memory()

    def setPolicy(self, policy: MemoryPolicy, allocator: Allocator, others_in_use: int) -> None:
        """Show that memory policy.

        Args:
            policy: Of this device.
            allocator: Of all GPUs.
            others_in_use: How many other GPUs the policy could be applied to.
        """
        if self.memory.value() != policy:
            self.memory.setValue(policy)
        self.memory.setAllocator(allocator)
        self.memory.menu.setOthersInUse(others_in_use)
        self._show_memory()

    def setReplicas(self, replicas: int) -> None:
        """Show so many logical devices of the CPU."""
        if replicas > 1 and replicas != self.replicas.value():
            self._more.setChecked(True)
        with QSignalBlocker(self.replicas):
            self.replicas.setMaximum(max(self._device.core_count or 1, replicas, 2))
            self.replicas.setValue(replicas)

    def setOwnProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of the run shown."""
        self._own_processes = pids
        self.details.setRunProcesses(pids)
        self._show_memory()

    def setApplied(self, words: str) -> None:
        """Say what became of applying the policy of this device to all; empty: nothing."""
        self._applied.setText(words)
        self._applied.setVisible(bool(words))

    def addReading(self, reading: DeviceReading | None) -> None:
        """Show what the device reported now; ``None``: it is missing from the sample."""
        self._reading = reading
        self.readings.add_reading(reading)
        if self._is_line:
            self._show_parts()
        self.details.setReading(reading)
        self._host.setReading(reading)
        self._show_state()
        self.readings.show_reading(reading)
        if _held(reading) != self._held:
            self._show_memory()

    def setDisk(self, disk: DiskReading | None) -> None:
        """Show how full the disk of the runs is; only the CPU's card does."""
        if not self._device.is_gpu:
            self._host.setDisk(disk)

    def focus_settings(self) -> QWidget:
        """Open the card and give the focus to its memory policy, or its replicas.

        Returns:
            What has the focus now.
        """
        self.setOpen(is_open=True)
        self._more.setChecked(True)
        target = self.memory.policy if self._device.is_gpu else self.replicas
        target.setFocus()
        return target

    def _connect(self) -> None:
        self._head.useChosen.connect(self._take_use)
        self._head.foldChosen.connect(self._take_fold)
        self.readings.utilizationChanged.connect(self._head.setUtilization)
        self.readings.bar.limitsMoved.connect(self.memory.setLimits)
        self.memory.valueChanged.connect(self._take_policy)
        self.memory.menu.applyRequested.connect(self._take_apply)
        device = self._device
        has_limit = device.power_limit_w is not None and not device.is_mig_instance
        self.memory.menu.setPowerShown(shown=has_limit and device.node is None)
        self.memory.menu.powerRequested.connect(self._ask_for_power)

    @property
    def _is_line(self) -> bool:
        return self._in_line and not self._is_open

    def _show_parts(self) -> None:
        # What is too hot is never folded away.
        self.readings.setVisible(not self._is_line or self.readings.has_notice())
        self._settings.setVisible(self._is_open and self._is_in_use and not self._is_partitioned)
        self.details.setVisible(self._is_open and self._device.is_gpu)
        self._host.setVisible(self._is_open and not self._device.is_gpu)
        # A folded card is for reading: nothing in it moves by accident.
        self.readings.bar.setMovable(self._is_open and self._is_in_use)

    def _show_state(self) -> None:
        words = device_state.words(self._reading, time.time())
        is_lost = device_state.is_lost(self._reading)
        self._state.setText(words or (_PARTITIONED if self._is_partitioned else ""))
        set_tone(self._state, Tone.ERROR if is_lost else Tone.MUTED)
        self._state.setVisible(bool(self._state.text()))

    def _show_memory(self) -> None:
        self._held = _held(self._reading)
        has_policy = self._device.is_gpu and self._is_in_use and not self._is_partitioned
        shown = self.memory.value() if has_policy else None
        use = memory_use(self._device, self._reading, self._own_processes, shown)
        is_known = self._reading is not None and self._reading.memory_used_mib is not None
        self.readings.show_memory(use, is_known=is_known)
        # The driver gives nobody what it keeps for itself.
        total = None if use.total_mib is None else use.total_mib - use.reserved_mib
        self.memory.setRoom(total, room_mib(self._reading, use))

    @property
    def _is_partitioned(self) -> bool:
        return self._device.is_partitioned

    def _replicas_row(self) -> QWidget:
        row, folded = QWidget(), QWidget()
        replicas = setting_of(DeviceSettings, "cpu_replicas")
        caption = QLabel(replicas.title)
        caption.setBuddy(self.replicas)
        self.replicas.setRange(1, max(self._device.core_count or 1, 2))
        teach(self.replicas, f"{replicas.title} of the CPU", replicas.description)
        self._more.setProperty("textSize", "small")
        self._more.toggled.connect(folded.setVisible)
        folded.hide()
        layout = row_in(folded)
        layout.addWidget(caption, 1)
        layout.addWidget(self.replicas)
        column = column_in(row, spacing=GRID // 2)
        column.addWidget(self._more)
        column.addWidget(folded)
        return row

    def _arrange(self) -> None:
        layout = self._layout
        for part in (
            *(self._head, self._state, self.readings, self._settings, self._applied),
            *(self.problems, self._host, self.details),
        ):
            layout.addWidget(part)
        self._applied.hide()

    @Slot(bool)
    def _take_use(self, on: bool) -> None:
        self.useChanged.emit(self._device.key, on)

    @Slot(bool)
    def _take_fold(self, is_open: bool) -> None:
        self.setOpen(is_open=is_open)
        self.foldChanged.emit(self._device.key, is_open)

    @Slot(object)
    def _take_policy(self, policy: MemoryPolicy) -> None:
        self._show_memory()
        self.policyChanged.emit(self._device.key, policy)

    @Slot()
    def _ask_for_power(self) -> None:
        self.powerRequested.emit(self._device)

    @Slot()
    def _take_apply(self) -> None:
        self.applyRequested.emit(self._device.key)


def _held(reading: DeviceReading | None) -> tuple[object, ...]:
    """What of a reading says whose memory is whose; a second later that is mostly the same."""
    if reading is None:
        return ()
    processes = tuple((each.pid, each.memory_used_mib) for each in reading.processes)
    used, free = reading.memory_used_mib, reading.memory_free_mib
    return used, free, reading.memory_total_mib, reading.memory_reserved_mib, processes
