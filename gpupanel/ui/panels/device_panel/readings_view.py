"""What a device does right now."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading, DeviceState
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.device_panel.reading_text import Notice, notice
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.memory_bar import MemoryBar
from gpupanel.ui.widgets.memory_use import MemoryUse
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.sparkline import Sparkline
from gpupanel.ui.widgets.tips import wrapped


class ReadingsView(QWidget):
    """Utilization, memory, temperature and power; everything keeps its place while it changes.

    Args:
        device: The device that reports.
        color: Number of the device's colour.
    """

    utilizationChanged = Signal(str)
    """How busy the device is, in words."""

    def __init__(self, device: PhysicalDevice, color: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._device = device
        self._is_open = True
        self._numbers: tuple[object, ...] = ()
        self._sparkline = Sparkline(color)
        self._utilization = self._number(formatting.percent(100.0))
        self._tag, self._folded_tag = NoticeTag(), NoticeTag(is_short=True)
        self._busy = QWidget()
        self.bar = MemoryBar(color)
        """All of the device's memory."""
        self._memory = self._number("")
        self._temperature = self._number(formatting.celsius(100.0))
        limit = formatting.watts(device.power_limit_w)
        self._power = self._number("")
        self._widest_power = (f"{limit.removesuffix(' W')} / {limit}", limit)
        self._teach()
        self._arrange()
        self.setOpen(is_open=True)
        self.show_memory(MemoryUse(total_mib=device.memory_total_mib), is_known=False)
        self.show_reading(None)

    def history(self) -> tuple[float | None, ...]:
        """The utilization that the curve shows, oldest first."""
        return self._sparkline.values()

    def setHistory(self, values: tuple[float | None, ...]) -> None:
        """Go on with the curve of another view of the same device."""
        for value in values:
            self._sparkline.add(value)

    def setOpen(self, *, is_open: bool) -> None:
        """Show everything, or what fits into two lines."""
        self._is_open = is_open
        self._numbers = ()
        self._busy.setVisible(is_open)
        self._folded_tag.setVisible(not is_open)
        for label in (self._memory, self._temperature, self._power):
            label.setProperty("textSize", "" if is_open else "small")
            label.style().unpolish(label)
            label.style().polish(label)
        _keep_room(self._temperature, formatting.celsius(100.0))
        _keep_room(self._power, self._widest_power[0 if is_open else 1])

    def has_notice(self) -> bool:
        """Whether something is said of the device that a person should know, such as heat."""
        return self._folded_tag.notice() is not None

    def take_bar_back(self) -> None:
        """Have the bar here, after it stood somewhere else."""
        if self._column.indexOf(self.bar) < 0:
            self._column.insertWidget(1, self.bar)
            self.bar.show()

    def add_reading(self, reading: DeviceReading | None) -> None:
        """Let the curve move on by one reading."""
        answers = reading is not None and reading.state is DeviceState.OK
        self._sparkline.add(reading.gpu_utilization_percent if answers and reading else None)
        for tag in (self._tag, self._folded_tag):
            tag.setNotice(notice(reading))

    def show_memory(self, use: MemoryUse, *, is_known: bool) -> None:
        """Show that; a dash where it is not known how much is in use."""
        self.bar.setUse(use)
        held = use.other_processes_mib + use.ours_mib if is_known else None
        self._memory.setText(f"{formatting.gib_number(held)} / {formatting.mib(use.total_mib)}")

    def show_reading(self, reading: DeviceReading | None) -> None:
        """Show the other numbers; a dash for each that is not known."""
        shown = reading or DeviceReading(key=self._device.key)
        numbers = (
            *(shown.gpu_utilization_percent, shown.temperature_c, shown.power_w),
            *(shown.power_limit_w or self._device.power_limit_w, self._is_open),
        )
        if numbers == self._numbers:
            return
        self._numbers = numbers
        busy_percent, degrees, power, limit, _ = numbers
        busy = formatting.percent(busy_percent)
        self._utilization.setText(busy)
        self.utilizationChanged.emit(busy)
        self._temperature.setText(formatting.celsius(degrees))
        drawn = formatting.DASH if power is None else f"{power:.0f}"
        whole = f"{drawn} / {formatting.watts(limit)}"
        self._power.setText(whole if self._is_open else formatting.watts(power))

    def _teach(self) -> None:
        if self._device.is_gpu:
            busy = (
                "Utilization: percent of the last moment in which some kernel ran.\n"
                "It does not say how full the GPU is: one small kernel after another is 100 %."
            )
            self._temperature.setToolTip("Temperature of the GPU's core.")
        else:
            busy = "Percent of all cores that were busy in the last moment."
            self._temperature.setToolTip("Temperature of the CPU.")
        self._sparkline.setToolTip(wrapped(busy))
        self._utilization.setToolTip(wrapped(busy))
        self._memory.setToolTip("Memory in use by all processes, of the total.")
        self._power.setToolTip("Power drawn now, and the limit in force.")
        # Only a GPU has a power limit and a power meter of its own.
        self._power.setVisible(self._device.is_gpu)

    def _arrange(self) -> None:
        beside = QVBoxLayout()
        beside.setSpacing(0)
        beside.addWidget(self._utilization)
        beside.addWidget(self._tag)
        top = QHBoxLayout(self._busy)
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(GRID)
        top.addWidget(self._sparkline, 1)
        top.addLayout(beside)
        numbers = QHBoxLayout()
        numbers.setSpacing(GRID // 2)
        self._memory.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        numbers.addWidget(self._memory)
        numbers.addStretch(1)
        numbers.addWidget(self._folded_tag)
        numbers.addWidget(self._temperature)
        numbers.addWidget(self._power)
        self._column = column_in(self, spacing=GRID // 2)
        self._column.addWidget(self._busy)
        self._column.addWidget(self.bar)
        self._column.addLayout(numbers)

    def _number(self, widest: str) -> QLabel:
        label = QLabel(self)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        _keep_room(label, widest)
        return label


def _keep_room(label: QLabel, widest: str) -> None:
    """Let what changes keep its place."""
    # Kerning makes some numbers a pixel or two wider than others of as many figures.
    label.setMinimumWidth(label.fontMetrics().horizontalAdvance(widest) + GRID // 2)


_WIDEST, _WIDEST_WORD = "Throttled: heat", "Too hot"
_GAP = 4
_HELD_READINGS = 6
"""How long a notice stays after its reason went: what comes and goes twice a second is no help."""


class NoticeTag(QWidget):
    """Shows a :class:`Notice`; as wide as the widest one, also while there is none.

    Args:
        is_short: Say it in one word.
    """

    def __init__(self, *, is_short: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_short = is_short
        self._notice: Notice | None = None
        self._quiet_readings = 0
        self._icon = SeverityIcon(None)
        self._words = QLabel()
        self._words.setProperty("textSize", "small")
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        layout = row_in(self, spacing=_GAP)
        layout.addStretch(1)
        layout.addWidget(self._icon)
        layout.addWidget(self._words)
        small = theme.small_font(self.font())
        widest = QFontMetrics(small).horizontalAdvance(_WIDEST_WORD if is_short else _WIDEST)
        self.setFixedSize(SIZE + 2 * _GAP + widest, SIZE)
        self._show()

    def notice(self) -> Notice | None:
        """What is shown."""
        return self._notice

    def setNotice(self, notice: Notice | None) -> None:
        """Show what holds with this reading; what does not hold any more stays for a moment."""
        self._quiet_readings = 0 if notice is not None else self._quiet_readings + 1
        if notice is None and self._quiet_readings <= _HELD_READINGS:
            return
        if notice != self._notice:
            self._notice = notice
            self._show()

    def _show(self) -> None:
        notice = self._notice
        self._icon.setVisible(notice is not None)
        words = "" if notice is None else notice.word if self._is_short else notice.words
        self._words.setText(words)
        self.setToolTip(wrapped(notice.sentence) if notice else "")
        self.setAccessibleName(notice.sentence if notice else "")
        if notice is not None:
            self._icon.setSeverity(notice.severity)
