"""What a device does right now."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import AllMemory, GrowingMemory, LimitedMemory, MemoryPolicy
from gpupanel.domain.telemetry import DeviceReading, DeviceState
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.memory_bar import MemoryBar, MemoryUse
from gpupanel.ui.widgets.sparkline import Sparkline


def memory_use(
    device: PhysicalDevice,
    reading: DeviceReading | None,
    own_processes: frozenset[int],
    policy: MemoryPolicy | None,
) -> MemoryUse:
    """Whose memory is whose on one device.

    Args:
        device: The device.
        reading: What it reported, ``None`` before the first sample.
        own_processes: Process ids of the run shown.
        policy: Decides where the line stands; ``None`` for no line.
    """
    if reading is None or reading.memory_used_mib is None:
        return MemoryUse(total_mib=device.memory_total_mib, cap_mib=cap_mib(policy))
    ours = sum(
        process.memory_used_mib or 0
        for process in reading.processes
        if process.pid in own_processes
    )
    ours = min(ours, reading.memory_used_mib)
    return MemoryUse(
        total_mib=reading.memory_total_mib or device.memory_total_mib,
        others_mib=reading.memory_used_mib - ours,
        ours_mib=ours,
        cap_mib=cap_mib(policy),
    )


def cap_mib(policy: MemoryPolicy | None) -> int | None:
    """The most that TensorFlow may take under a policy; ``None`` where nothing bounds it."""
    match policy:
        case None | AllMemory() | GrowingMemory():
            return None
        case LimitedMemory():
            return policy.limit_mib
        case _:
            return sum(policy.split_mib)


class ReadingsView(QWidget):
    """Utilization, memory, temperature and power; everything keeps its place while it changes."""

    def __init__(self, device: PhysicalDevice, index: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._device = device
        self._sparkline = Sparkline(index)
        self._utilization = self._number(formatting.percent(100.0))
        self._bar = MemoryBar(index)
        self._memory = self._number("")
        self._temperature = self._number(formatting.celsius(100.0))
        limit = formatting.watts(device.power_limit_w)
        self._power = self._number(f"{limit.removesuffix(' W')} / {limit}")
        self._teach()
        self._arrange()
        self.show_reading(None, MemoryUse(total_mib=device.memory_total_mib))

    def add_reading(self, reading: DeviceReading | None) -> None:
        """Let the curve move on by one reading."""
        lost = reading is None or reading.state is DeviceState.LOST
        self._sparkline.add(None if lost or not reading else reading.gpu_utilization_percent)

    def show_reading(self, reading: DeviceReading | None, use: MemoryUse) -> None:
        """Show these numbers; a dash for each that is not known."""
        known = reading is not None and reading.memory_used_mib is not None
        self._bar.setUse(use)
        held = use.others_mib + use.ours_mib if known else None
        self._memory.setText(f"{formatting.gib_number(held)} / {formatting.mib(use.total_mib)}")
        self._utilization.setText(
            formatting.percent(reading.gpu_utilization_percent if reading else None)
        )
        self._temperature.setText(formatting.celsius(reading.temperature_c if reading else None))
        power = reading.power_w if reading else None
        drawn = formatting.DASH if power is None else f"{power:.0f}"
        self._power.setText(f"{drawn} / {formatting.watts(self._device.power_limit_w)}")

    def _teach(self) -> None:
        if self._device.is_gpu:
            busy = (
                "Utilization: percent of the last moment in which some kernel ran.\n"
                "It does not say how full the GPU is: one small kernel after another is 100 %."
            )
            self._temperature.setToolTip("Temperature of the GPU's core.")
        else:
            busy = "Percent of all cores that were busy in the last moment."
            self._temperature.setToolTip("Temperature of the processor.")
        self._sparkline.setToolTip(busy)
        self._utilization.setToolTip(busy)
        self._memory.setToolTip("Memory in use by everybody, of all that there is.")
        self._power.setToolTip("Power drawn now, and the limit in force.")
        # Only a GPU has a power limit and a power meter of its own.
        self._power.setVisible(self._device.is_gpu)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addWidget(self._sparkline, 1)
        top.addWidget(self._utilization)
        numbers = QHBoxLayout()
        numbers.setSpacing(2 * GRID)
        self._memory.setAlignment(Qt.AlignmentFlag.AlignLeft)
        numbers.addWidget(self._memory)
        numbers.addStretch(1)
        numbers.addWidget(self._temperature)
        numbers.addWidget(self._power)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(top)
        layout.addWidget(self._bar)
        layout.addLayout(numbers)

    def _number(self, widest: str) -> QLabel:
        label = QLabel(self)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # Kerning makes some numbers a pixel or two wider than others of as many figures.
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(widest) + GRID // 2)
        return label
