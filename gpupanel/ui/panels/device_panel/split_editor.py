"""One GPU made into several logical devices."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gpupanel.domain.memory import CUDA_CONTEXT_MIB, SplitMemory
from gpupanel.ui import formatting
from gpupanel.ui.inputs.quiet_inputs import SpinBox
from gpupanel.ui.panels.device_panel.limit_editor import RoomLabel, greatest_limit_mib
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in, discard, row_in
from gpupanel.ui.widgets.memory_bar import STEP_MIB

_FEWEST, _MOST = 2, 16
_COLUMNS = 2


class SplitEditor(QWidget):
    """Edits :class:`SplitMemory`: the memory of each logical device, which come and go."""

    valueChanged = Signal(object)
    """A person chose another split; :meth:`setValue` is silent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib: int | None = None
        self._free_mib: int | None = None
        self._parts: list[_PartBox] = []
        self._grid = QGridLayout()
        self._add = QPushButton("Add")
        self._add.setAccessibleName("Add a logical device")
        self._equal = QPushButton("Make equal")
        self._equal.setToolTip("Gives every logical device the same memory.")
        self._room = RoomLabel()
        self._arrange()
        self._add.clicked.connect(self._take_add)
        self._equal.clicked.connect(self._take_equal)
        self._show_parts((STEP_MIB,) * _FEWEST)

    def value(self, *, growth: bool = False) -> SplitMemory:
        """The sizes that are shown, taken at start or growing up to."""
        return SplitMemory(split_mib=self._sizes(), growth=growth)

    def setValue(self, value: SplitMemory) -> None:
        """Show those sizes, also when they are beyond the device's memory."""
        self._show_parts(value.split_mib)

    def setRoom(self, total_mib: int | None, free_mib: int | None) -> None:
        """Bound the sizes by the device's memory, and say how much of it is free now."""
        if (total_mib, free_mib) == (self._total_mib, self._free_mib):
            return
        self._total_mib, self._free_mib = total_mib, free_mib
        for part in self._parts:
            part.setGreatest(greatest_limit_mib(total_mib))
        self._show_state()

    def _arrange(self) -> None:
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._add)
        buttons.addWidget(self._equal)
        buttons.addStretch(1)
        layout = column_in(self)
        layout.addLayout(self._grid)
        layout.addWidget(self._room)
        layout.addLayout(buttons)

    def _sizes(self) -> tuple[int, ...]:
        return tuple(part.value() for part in self._parts)

    @Slot()
    def _take_add(self) -> None:
        """The new one gets what is free, or else half of the largest."""
        sizes = list(self._sizes())
        room = self._total_mib if self._free_mib is None else self._free_mib
        rest = ((room or 0) - CUDA_CONTEXT_MIB - sum(sizes)) // STEP_MIB * STEP_MIB
        if rest < STEP_MIB:
            largest = sizes.index(max(sizes))
            rest = max(1, sizes[largest] // 2)
            sizes[largest] = max(1, sizes[largest] - rest)
        self._take((*sizes, rest))

    @Slot()
    def _take_equal(self) -> None:
        sizes = self._sizes()
        self._take((max(1, sum(sizes) // len(sizes)),) * len(sizes))

    @Slot(int)
    def _take_removal(self, position: int) -> None:
        sizes = self._sizes()
        self._take(sizes[:position] + sizes[position + 1 :])

    def _take(self, sizes: tuple[int, ...]) -> None:
        self._show_parts(sizes)
        self._report()

    @Slot()
    def _report(self) -> None:
        self._show_state()
        self.valueChanged.emit(self.value())

    def _show_parts(self, sizes: tuple[int, ...]) -> None:
        while len(self._parts) > len(sizes):
            part = self._parts.pop()
            discard(self._grid, [part])
        while len(self._parts) < len(sizes):
            self._append()
        for part, size in zip(self._parts, sizes, strict=True):
            part.setValue(size)
        self._show_state()

    def _append(self) -> None:
        position = len(self._parts)
        part = _PartBox(position)
        part.setGreatest(greatest_limit_mib(self._total_mib))
        part.valueChanged.connect(self._report)
        part.removed.connect(self._take_removal)
        self._parts.append(part)
        self._grid.addWidget(part, position // _COLUMNS, position % _COLUMNS)

    def _show_state(self) -> None:
        sizes = self._sizes()
        for part in self._parts:
            part.setRemovable(len(sizes) > _FEWEST)
        self._add.setEnabled(len(sizes) < _MOST)
        self._add.setToolTip(
            "Make one more logical device. TensorFlow treats each as a GPU with its own memory;\n"
            "they share the GPU's processors, so this is for experiments."
            if len(sizes) < _MOST
            else f"{_MOST} logical devices is the maximum here."
        )
        self._equal.setEnabled(len(set(sizes)) > 1)
        whole = sum(sizes)
        self._room.show_room(whole, self._total_mib, self._free_mib, formatting.mib(whole))


class _PartBox(QWidget):
    """The memory of one logical device, and the button that removes it."""

    valueChanged = Signal()
    removed = Signal(int)

    def __init__(self, position: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._position = position
        self._box = SpinBox()
        self._box.setSuffix(" MiB")
        self._box.setMinimumWidth(88)
        self._box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._box.setSingleStep(STEP_MIB)
        self._box.setAccessibleName(f"Memory of logical device {position + 1} in MiB")
        self._box.setToolTip(
            f"Memory of logical device {position + 1}; TensorFlow needs a limit for each.\n"
            "The borders in the bar above can be dragged too."
        )
        self._remove = QToolButton()
        self._remove.setText("\N{MULTIPLICATION SIGN}")
        self._remove.setProperty("role", "chevron")
        self._remove.setAccessibleName(f"Remove logical device {position + 1}")
        layout = row_in(self, spacing=0)
        layout.addWidget(self._box, 1)
        layout.addWidget(self._remove, 0, Qt.AlignmentFlag.AlignVCenter)
        self._box.valueChanged.connect(self.valueChanged)
        self._remove.clicked.connect(self._take_removal)
        self.setFocusProxy(self._box)

    def value(self) -> int:
        """The memory in MiB."""
        return self._box.value()

    def setValue(self, size_mib: int) -> None:
        """Show that, whatever the device has."""
        with QSignalBlocker(self._box):
            self._box.setMaximum(max(self._box.maximum(), size_mib))
            self._box.setValue(size_mib)

    def setGreatest(self, greatest_mib: int) -> None:
        """Bound what can be chosen."""
        with QSignalBlocker(self._box):
            self._box.setRange(1, max(greatest_mib, self._box.value()))

    def setRemovable(self, removable: bool) -> None:
        """Let a person remove it, or not."""
        self._remove.setEnabled(removable)
        self._remove.setToolTip(
            f"Remove logical device {self._position + 1}; its memory becomes free."
            if removable
            else "A split needs at least two logical devices; for one, choose a limit."
        )

    @Slot()
    def _take_removal(self) -> None:
        self.removed.emit(self._position)
