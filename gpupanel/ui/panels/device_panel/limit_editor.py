"""A memory limit by slider or by number, and how much room there is for it."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpupanel.domain.memory import CUDA_CONTEXT_MIB, LimitedMemory
from gpupanel.domain.setting import setting_of
from gpupanel.ui import formatting
from gpupanel.ui.inputs.quiet_inputs import Slider, SpinBox
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.memory_bar import STEP_MIB
from gpupanel.ui.widgets.tips import wrapped

_LESSON = (
    f"A limit does not include the CUDA context: some {CUDA_CONTEXT_MIB} MiB more for "
    "each process. In the bar it is hatched, behind the line."
)


class RoomLabel(ElidedLabel):
    """One line that says whether a limit, with the CUDA context, fits into what is free."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setProperty("textSize", "small")
        self.setToolTip(wrapped(_LESSON))

    def show_room(
        self, allowed_mib: int, total_mib: int | None, free_mib: int | None, sum_: str
    ) -> None:
        """Say it.

        Args:
            allowed_mib: What TensorFlow may take.
            total_mib: The device's memory; ``None`` when it is not known.
            free_mib: What can be had now; ``None`` when it is not known.
            sum_: What comes before the words, where the limit is not to be seen elsewhere.
        """
        room = total_mib if free_mib is None else free_mib
        if room is None:
            self.setText("The memory size is not known.")
            set_tone(self, Tone.MUTED)
            return
        of = f"{formatting.mib(room)} {'in total' if free_mib is None else 'free now'}"
        context = "context" if sum_ else f"{CUDA_CONTEXT_MIB} MiB CUDA context"
        fits = allowed_mib + CUDA_CONTEXT_MIB <= room
        if allowed_mib > room:
            words = f"{sum_}, more than the {of}" if sum_ else f"More than the {of}"
        elif fits:
            words = f"{sum_} + {context}, of {of}".lstrip()
        else:
            words = f"{sum_} + {context}: over the {of}".lstrip()
        self.setText(words)
        set_tone(self, Tone.MUTED if fits else Tone.WARNING)


UNKNOWN_MIB = 256 * 1024
"""As much as can be asked of a device that does not report how much memory it has."""


def greatest_limit_mib(total_mib: int | None) -> int:
    """The end of what can be chosen: a GPU that nobody uses gives it out whole.

    Args:
        total_mib: The device's memory less what its driver keeps; ``None`` when it is not known.
    """
    return UNKNOWN_MIB if total_mib is None else max(1, total_mib - CUDA_CONTEXT_MIB)


class LimitEditor(QWidget):
    """Edits a limit in MiB."""

    valueChanged = Signal(int)
    """A person chose another limit; :meth:`setValue` is silent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib: int | None = None
        self._free_mib: int | None = None
        self._slider = Slider()
        self._slider.setAccessibleName("Memory limit")
        self._spin = SpinBox()
        self._spin.setAccessibleName("Memory limit in MiB")
        self._spin.setSuffix(" MiB")
        self._spin.setMinimumWidth(104)
        self._room = RoomLabel()
        self._teach()
        self._arrange()
        self._slider.valueChanged.connect(self._take_slider)
        self._spin.valueChanged.connect(self._take_spin)
        self._widen()

    def value(self) -> int:
        """The limit that is shown."""
        return self._spin.value()

    def setValue(self, limit_mib: int) -> None:
        """Show that limit, also one beyond the device's memory: planning says so."""
        self._widen(limit_mib)
        with QSignalBlocker(self._spin), QSignalBlocker(self._slider):
            self._spin.setValue(limit_mib)
            self._slider.setValue(limit_mib)
        self._show_room()

    def setRoom(self, total_mib: int | None, free_mib: int | None) -> None:
        """Bound the limit by what the device can give, and say how much of it is free now."""
        if (total_mib, free_mib) == (self._total_mib, self._free_mib):
            return
        self._total_mib, self._free_mib = total_mib, free_mib
        self._widen()
        self._show_room()

    def _teach(self) -> None:
        limit = setting_of(LimitedMemory, "limit_mib")
        tip = f"{limit.description} You can also drag the line in the bar above."
        self._slider.setToolTip(wrapped(tip))
        self._spin.setToolTip(wrapped(tip))

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._slider, 1)
        row.addWidget(self._spin)
        layout = column_in(self, spacing=GRID // 2)
        layout.addLayout(row)
        layout.addWidget(self._room)

    def _widen(self, limit_mib: int = 1) -> None:
        greatest_mib = max(greatest_limit_mib(self._total_mib), limit_mib, self._spin.value())
        with QSignalBlocker(self._spin), QSignalBlocker(self._slider):
            for box in (self._slider, self._spin):
                box.setRange(1, greatest_mib)
                box.setSingleStep(STEP_MIB)
            self._slider.setPageStep(4 * STEP_MIB)

    @Slot(int)
    def _take_slider(self, limit_mib: int) -> None:
        # The slider goes in steps; an exact number is typed.
        at_end = limit_mib in (self._slider.minimum(), self._slider.maximum())
        rounded = max(STEP_MIB, round(limit_mib / STEP_MIB) * STEP_MIB)
        with QSignalBlocker(self._spin):
            self._spin.setValue(limit_mib if at_end else rounded)
        self._report()

    @Slot(int)
    def _take_spin(self, limit_mib: int) -> None:
        with QSignalBlocker(self._slider):
            self._slider.setValue(limit_mib)
        self._report()

    def _report(self) -> None:
        self._show_room()
        self.valueChanged.emit(self.value())

    def _show_room(self) -> None:
        self._room.show_room(self._spin.value(), self._total_mib, self._free_mib, "")
