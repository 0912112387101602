"""A memory limit by slider or by number."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.memory import LimitedMemory
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.quiet_inputs import Slider, SpinBox
from gpupanel.ui.widgets.tone import Tone, set_tone

STEP_MIB = 256
"""What a turn of the wheel, an arrow key or a click beside the slider's knob changes."""


class LimitEditor(QWidget):
    """Speaks :class:`LimitedMemory`."""

    valueChanged = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib = STEP_MIB
        self._free_mib: int | None = None
        self._slider = Slider()
        self._slider.setAccessibleName("Memory limit")
        self._spin = SpinBox()
        self._spin.setAccessibleName("Memory limit in MiB")
        self._spin.setSuffix(" MiB")
        self._spin.setMinimumWidth(104)
        self._growth = QCheckBox("Grow up to the limit")
        self._growth.setToolTip(
            "Start small and take more when it is needed, up to the limit.\n"
            "Unticked, TensorFlow takes the whole limit at its start."
        )
        self._room = QLabel()
        self._room.setProperty("textSize", "small")
        self._teach()
        self._arrange()
        self._slider.valueChanged.connect(self._take_slider)
        self._spin.valueChanged.connect(self._take_spin)
        self._growth.clicked.connect(self._tell)
        self.setRoom(STEP_MIB, None)

    def value(self) -> LimitedMemory:
        """The limit that is shown."""
        return LimitedMemory(limit_mib=self._spin.value(), growth=self._growth.isChecked())

    def setValue(self, value: LimitedMemory) -> None:
        """Show that limit, also one beyond the device's memory: planning tells about it."""
        self._widen(max(self._total_mib, value.limit_mib))
        with QSignalBlocker(self._spin), QSignalBlocker(self._slider):
            self._spin.setValue(value.limit_mib)
            self._slider.setValue(value.limit_mib)
        self._growth.setChecked(value.growth)
        self._show_room()

    def setRoom(self, total_mib: int, free_mib: int | None) -> None:
        """Bound the limit by the device's memory, and say how much of it is free now."""
        if (total_mib, free_mib) == (self._total_mib, self._free_mib):
            return
        self._total_mib, self._free_mib = total_mib, free_mib
        self._widen(max(total_mib, self._spin.value()))
        self._show_room()

    def _teach(self) -> None:
        tip = (
            "The most GPU memory that TensorFlow may take on this device.\n"
            "The CUDA context comes on top: some 300 to 500 MiB."
        )
        self._slider.setToolTip(tip)
        self._spin.setToolTip(tip)

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._slider, 1)
        row.addWidget(self._spin)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(row)
        layout.addWidget(self._room)
        layout.addWidget(self._growth)

    def _widen(self, greatest_mib: int) -> None:
        with QSignalBlocker(self._spin), QSignalBlocker(self._slider):
            for box in (self._slider, self._spin):
                box.setRange(1, max(1, greatest_mib))
                box.setSingleStep(STEP_MIB)
            self._slider.setPageStep(4 * STEP_MIB)

    @Slot(int)
    def _take_slider(self, limit_mib: int) -> None:
        # The slider goes in steps; an exact number is typed.
        at_end = limit_mib in (self._slider.minimum(), self._slider.maximum())
        rounded = max(STEP_MIB, round(limit_mib / STEP_MIB) * STEP_MIB)
        with QSignalBlocker(self._spin):
            self._spin.setValue(limit_mib if at_end else rounded)
        self._tell()

    @Slot(int)
    def _take_spin(self, limit_mib: int) -> None:
        with QSignalBlocker(self._slider):
            self._slider.setValue(limit_mib)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self._show_room()
        self.valueChanged.emit(self.value())

    def _show_room(self) -> None:
        free = self._free_mib
        if free is None:
            self._room.setText(f"of {formatting.mib(self._total_mib)}")
            set_tone(self._room, Tone.MUTED)
        elif self._spin.value() > free:
            self._room.setText(f"More than the {formatting.mib(free)} free now")
            set_tone(self._room, Tone.WARNING)
        else:
            self._room.setText(f"of {formatting.mib(free)} free now")
            set_tone(self._room, Tone.MUTED)
