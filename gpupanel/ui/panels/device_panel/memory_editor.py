"""How much of a GPU's memory TensorFlow may take."""

from typing import assert_never

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.memory import (
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.ui.panels.device_panel.limit_editor import STEP_MIB, LimitEditor
from gpupanel.ui.panels.device_panel.split_editor import SplitEditor
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.quiet_inputs import ComboBox

CUDA_CONTEXT_MIB = 512
"""What a CUDA context takes beside TensorFlow's own memory, at most as a rule."""

_POLICIES = (
    (
        "all",
        "Take all",
        "TensorFlow's own way: it takes nearly all free memory at its start.",
    ),
    (
        "growth",
        "Grow as needed",
        "Start small and take more when it is needed.\nGrowth is the same on every GPU in use.",
    ),
    (
        "limit",
        "Limit",
        "Take at most so much, and leave the rest to others.",
    ),
    (
        "split",
        "Split",
        "Make several logical devices of this GPU, to try out several replicas on it.",
    ),
)


class MemoryEditor(QWidget):
    """Speaks a :data:`MemoryPolicy`; what a limit or a split was stays when another is shown."""

    valueChanged = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib = 2 * STEP_MIB
        self._free_mib: int | None = None
        self._touched: set[str] = set()
        self._policy = ComboBox()
        self._policy.setAccessibleName("Memory policy")
        for policy, label, tip in _POLICIES:
            self._policy.addItem(label, policy)
            self._policy.setItemData(self._policy.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self._limit = LimitEditor()
        self._split = SplitEditor()
        self._arrange()
        self.setValue(GrowingMemory())
        self._policy.currentIndexChanged.connect(self._take_policy)
        self._limit.valueChanged.connect(self._take_size)
        self._split.valueChanged.connect(self._take_size)

    def value(self) -> MemoryPolicy:
        """The policy that is shown."""
        match self._policy.currentData():
            case "all":
                return AllMemory()
            case "limit":
                return self._limit.value()
            case "split":
                return self._split.value()
            case _:
                return GrowingMemory()

    def setValue(self, value: MemoryPolicy) -> None:
        """Show that policy."""
        with QSignalBlocker(self._policy):
            self._policy.setCurrentIndex(self._policy.findData(value.policy))
        match value:
            case LimitedMemory():
                self._limit.setValue(value)
            case SplitMemory():
                self._split.setValue(value)
            case AllMemory() | GrowingMemory():
                pass
            case _:
                assert_never(value)
        self._touched.add(value.policy)
        self._show_policy()

    def setRoom(self, total_mib: int, free_mib: int | None) -> None:
        """Tell how much memory the device has, and how much of it others leave free now."""
        self._total_mib, self._free_mib = total_mib, free_mib
        self._limit.setRoom(total_mib, free_mib)
        self._split.setRoom(total_mib, free_mib)

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        caption = QLabel("Memory")
        caption.setBuddy(self._policy)
        row.addWidget(caption)
        row.addWidget(self._policy, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(row)
        layout.addWidget(self._limit)
        layout.addWidget(self._split)

    @Slot()
    def _take_policy(self) -> None:
        policy = self._policy.currentData()
        if policy not in self._touched:
            self._offer(policy)
        self._touched.add(policy)
        self._show_policy()
        self.valueChanged.emit(self.value())

    @Slot()
    def _take_size(self) -> None:
        self.valueChanged.emit(self.value())

    def _offer(self, policy: str) -> None:
        """Begin with what fits now."""
        room = min(self._total_mib, self._free_mib or self._total_mib) - CUDA_CONTEXT_MIB
        fits = max(STEP_MIB, room // STEP_MIB * STEP_MIB)
        if policy == "limit":
            self._limit.setValue(LimitedMemory(limit_mib=fits))
        elif policy == "split":
            half = max(STEP_MIB, fits // 2 // STEP_MIB * STEP_MIB)
            self._split.setValue(SplitMemory(split_mib=(half, half)))

    def _show_policy(self) -> None:
        policy = self._policy.currentData()
        self._limit.setVisible(policy == "limit")
        self._split.setVisible(policy == "split")
        self._policy.setToolTip(self._policy.currentData(Qt.ItemDataRole.ToolTipRole))
