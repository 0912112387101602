"""The heads of the panel of devices and of its cards."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.ui import formatting
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.panels.device_panel.reading_text import about
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.dropping_row import DroppingRow
from gpupanel.ui.widgets.labels import ElidedLabel
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.memory_bar import MemoryBar
from gpupanel.ui.widgets.tips import wrapped


class CardHead(QWidget):
    """Colour, name, how busy while the card is folded, the fold, and the switch.

    Of a card that is one line it has the memory bar, too.

    Args:
        color: Number of the device's colour.
        label: A short name that no other device of this machine has.
    """

    useChosen = Signal(bool)
    """A person switched the device on or off."""
    foldChosen = Signal(bool)
    """A person opened the card, or folded it."""

    def __init__(
        self, device: PhysicalDevice, color: int, label: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._label, self._is_gpu = label, device.is_gpu
        self._dot = ColorDot(color)
        self._name = ElidedLabel(label)
        self._name.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._name.setProperty("role", "title")
        self._name.setToolTip(wrapped(about(device)))
        self._utilization = QLabel()
        self._utilization.setProperty("textSize", "small")
        self._utilization.setToolTip(
            "Utilization: percent of the last moment in which the device was busy."
        )
        self._utilization.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._utilization.ensurePolished()
        widest = self._utilization.fontMetrics().horizontalAdvance(formatting.percent(100.0))
        self._utilization.setMinimumWidth(widest + 2)
        self._fold = QToolButton()
        self._fold.setProperty("role", "chevron")
        self._fold.setCheckable(True)
        self._switch = Switch()
        self._switch.setAccessibleName(f"Use {label}")
        self._arrange()
        self._fold.clicked.connect(self.foldChosen)
        self._switch.clicked.connect(self.useChosen)
        if device.is_partitioned:
            self._switch.hide()
        self.setOpen(is_open=True)

    def setUse(self, *, in_use: bool, is_only_one: bool, can_switch: bool) -> None:
        """Show whether the device is in use, alone, and whether another could take its place."""
        self._switch.setChecked(in_use)
        self._switch.setEnabled(can_switch)
        self._dot.setFilled(in_use)
        if not can_switch:
            tip = "The only device that could be used: no GPU answers."
        elif is_only_one:
            instead = "the CPU" if self._is_gpu else "the GPUs"
            tip = f"The only device in use. Switch it off to use {instead} instead."
        elif in_use:
            tip = "In use: the run trains on this device. Switch it off to exclude it."
        else:
            tip = "Not in use. Switch it on to train on this device."
        self._switch.setToolTip(wrapped(tip))

    def setOpen(self, *, is_open: bool) -> None:
        """Show the card as open or folded."""
        self._fold.setChecked(is_open)
        self._fold.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._fold.setToolTip("Show less." if is_open else "Show more about this device.")
        self._fold.setAccessibleName(f"{'Fold' if is_open else 'Open'} {self._label}")
        self._utilization.setVisible(not is_open)

    def setBar(self, bar: MemoryBar) -> None:
        """Have the bar of the device's memory beside its name, until something else takes it."""
        if self._row.indexOf(bar) < 0:
            self._row.insertWidget(self._row.indexOf(self._utilization) + 1, bar, 1)
            bar.show()

    @Slot(str)
    def setUtilization(self, words: str) -> None:
        """Show how busy the device is, while the card is folded."""
        self._utilization.setText(words)

    def _arrange(self) -> None:
        self._row = layout = row_in(self, spacing=GRID // 2)
        layout.addWidget(self._dot)
        layout.addSpacing(2)
        layout.addWidget(self._name, 2)
        layout.addWidget(self._utilization)
        layout.addWidget(self._fold)
        layout.addWidget(self._switch)


class PanelHead(DroppingRow):
    """The caption, the driver's version where there is room for it, and ways to more."""

    doctorRequested = Signal()
    historyRequested = Signal()
    linesChosen = Signal(bool)
    """A person wants one line a device, or more of each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        caption = QLabel("DEVICES")
        caption.setProperty("role", "section")
        self._driver = QLabel()
        self._driver.setProperty("tone", "muted")
        self._driver.setProperty("textSize", "small")
        doctor = QToolButton()
        doctor.setObjectName("doctor_button")
        doctor.setText("Doctor")
        doctor.setProperty("role", "link")
        doctor.setToolTip(
            wrapped(
                "Why is a GPU missing or not used? Checks driver, libraries and TensorFlow, "
                "and shows how to fix it."
            )
        )
        doctor.clicked.connect(self.doctorRequested)
        history = QToolButton()
        history.setObjectName("history_button")
        history.setText("Last hour")
        history.setProperty("role", "link")
        history.setToolTip(
            wrapped("Utilization, memory, temperature and power of all devices in the last hour.")
        )
        history.clicked.connect(self.historyRequested)
        self._lines = QToolButton()
        self._lines.setObjectName("device_lines")
        self._lines.setText("≡")
        self._lines.setAccessibleName("Lines")
        self._lines.setProperty("role", "chevron")
        self._lines.setCheckable(True)
        self._lines.clicked.connect(self.linesChosen)
        self.setInLines(False)
        self.row.setContentsMargins(0, 0, GRID // 2, 0)
        self.row.setSpacing(GRID)
        self.row.addWidget(caption)
        self.row.addStretch(1)
        self.row.addWidget(self._driver)
        self.row.addWidget(self._lines)
        self.row.addWidget(history)
        self.row.addWidget(doctor)
        # The doctor and Help > About say which driver it is, too.
        self.setDroppable((self._driver,))

    def setInLines(self, in_lines: bool) -> None:
        """Show whether each device has one line."""
        self._lines.setChecked(in_lines)
        tip = "Shows more of each device." if in_lines else "Folds each device to one line."
        self._lines.setToolTip(wrapped(tip))

    def setDriver(self, version: str | None) -> None:
        """Show which driver answers."""
        self._driver.setText(f"Driver {version}" if version else "")

    def setCluster(self, node_count: int) -> None:
        """Show how many nodes there are in the place of the driver, of which each has its own."""
        self._driver.setText(f"{node_count} node{'' if node_count == 1 else 's'}")
