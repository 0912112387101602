"""One GPU made into several logical devices."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.memory import SplitMemory
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.quiet_inputs import SpinBox
from gpupanel.ui.widgets.tone import Tone, set_tone

_FEWEST, _MOST = 2, 16
_STEP_MIB = 256


class SplitEditor(QWidget):
    """Speaks :class:`SplitMemory`: a number of logical devices of equal size, or each one's."""

    valueChanged = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib = _FEWEST * _STEP_MIB
        self._free_mib: int | None = None
        self._count = SpinBox()
        self._count.setRange(_FEWEST, _MOST)
        self._count.setAccessibleName("Logical devices")
        self._count.setToolTip(
            "How many logical devices to make of this GPU. TensorFlow treats each as a GPU with\n"
            "its own memory; they share the GPU's processors, so this is for trying things out."
        )
        self._equal = QCheckBox("Equal sizes")
        self._equal.setChecked(True)
        self._equal.setToolTip("Give every logical device the same memory; untick to set each.")
        self._sizes: list[SpinBox] = []
        self._grid = QGridLayout()
        self._room = QLabel()
        self._room.setProperty("textSize", "small")
        self._arrange()
        self._count.valueChanged.connect(self._take_count)
        self._equal.clicked.connect(self._take_equal)
        self._show_sizes((_STEP_MIB,) * _FEWEST)

    def value(self) -> SplitMemory:
        """The sizes that are shown."""
        if self._equal.isChecked():
            return SplitMemory(split_mib=(self._sizes[0].value(),) * self._count.value())
        return SplitMemory(split_mib=tuple(box.value() for box in self._sizes))

    def setValue(self, value: SplitMemory) -> None:
        """Show those sizes, also when they are beyond the device's memory."""
        sizes = value.split_mib
        with QSignalBlocker(self._count):
            self._count.setMaximum(max(_MOST, len(sizes)))
            self._count.setValue(len(sizes))
        self._equal.setChecked(len(set(sizes)) == 1)
        self._show_sizes(sizes)

    def setRoom(self, total_mib: int, free_mib: int | None) -> None:
        """Bound the sizes by the device's memory, and say how much of it is free now."""
        if (total_mib, free_mib) == (self._total_mib, self._free_mib):
            return
        self._total_mib, self._free_mib = total_mib, free_mib
        for box in self._sizes:
            self._bound(box)
        self._show_room()

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        caption = QLabel("Logical devices")
        caption.setBuddy(self._count)
        row.addWidget(caption)
        row.addWidget(self._count)
        row.addStretch(1)
        self._grid.setSpacing(GRID)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(row)
        layout.addWidget(self._equal)
        layout.addLayout(self._grid)
        layout.addWidget(self._room)

    @Slot(int)
    def _take_count(self, count: int) -> None:
        shown = tuple(box.value() for box in self._sizes)
        if self._equal.isChecked():
            # Share the same memory among more or fewer of them.
            whole = shown[0] * self._shown_count
            self._show_sizes((max(1, whole // count),) * count)
        else:
            self._show_sizes((shown + shown[-1:] * count)[:count])
        self._tell()

    @Slot()
    def _take_equal(self) -> None:
        sizes = tuple(box.value() for box in self._sizes)
        count = self._count.value()
        if self._equal.isChecked():
            self._show_sizes((max(1, sum(sizes) // count),) * count)
        else:
            self._show_sizes(sizes[:1] * count)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self._show_room()
        self.valueChanged.emit(self.value())

    def _show_sizes(self, sizes: tuple[int, ...]) -> None:
        self._shown_count = len(sizes)
        wanted = sizes[:1] if self._equal.isChecked() else sizes
        while len(self._sizes) > len(wanted):
            box = self._sizes.pop()
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        while len(self._sizes) < len(wanted):
            self._append_box()
        for box, size in zip(self._sizes, wanted, strict=True):
            with QSignalBlocker(box):
                self._bound(box, size)
                box.setValue(size)
        self._show_room()

    def _append_box(self) -> None:
        box = SpinBox()
        position = len(self._sizes)
        box.setSuffix(" MiB")
        box.setMinimumWidth(96)
        box.setSingleStep(_STEP_MIB)
        box.setAccessibleName(f"Memory of logical device {position + 1} in MiB")
        box.setToolTip("Memory of this logical device; TensorFlow needs a limit for each.")
        box.valueChanged.connect(self._tell)
        self._sizes.append(box)
        self._grid.addWidget(box, position // 2, position % 2)

    def _bound(self, box: SpinBox, size_mib: int = 1) -> None:
        with QSignalBlocker(box):
            box.setRange(1, max(self._total_mib, box.value(), size_mib))

    def _show_room(self) -> None:
        whole = sum(self.value().split_mib)
        known = self._free_mib is not None
        room = self._free_mib if self._free_mib is not None else self._total_mib
        state = "free now" if known else "in all"
        over = whole > room
        of = "of" if not over else "more than the"
        self._room.setText(f"{formatting.mib(whole)} together, {of} {formatting.mib(room)} {state}")
        set_tone(self._room, Tone.WARNING if over else Tone.MUTED)
