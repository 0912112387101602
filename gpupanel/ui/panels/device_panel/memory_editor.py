"""How much of a GPU's memory TensorFlow may take."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
    available_mib,
)
from gpupanel.ui import formatting
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.panels.device_panel.limit_editor import LimitEditor
from gpupanel.ui.panels.device_panel.memory_menu import MemoryMenu
from gpupanel.ui.panels.device_panel.memory_shares import limits_mib, with_limits
from gpupanel.ui.panels.device_panel.split_editor import SplitEditor
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.memory_bar import STEP_MIB
from gpupanel.ui.widgets.tips import wrapped

_MODEST_MIB = 4 * 1024
"""Where a limit begins that is to be set without knowing the device's memory."""
_AVAILABLE_LESSON = (
    f"What TensorFlow can have: the CUDA context takes some {CUDA_CONTEXT_MIB} MiB, and its own "
    "allocator leaves 0.2 to 1.8 GiB to others where no limit is set. A limit is given out whole."
)
_GROWING = {"limit": "limit_growth", "split": "split_growth"}
"""The choices that grow up to limits, by the policy that takes them at the start."""
_CHOICES = (
    Choice(
        "all",
        "Take all",
        "TensorFlow's default: takes nearly all free memory at the start.",
    ),
    Choice(
        "growth",
        "Grow as needed",
        "Start small and take more when needed. Growth is the same on all GPUs in use.",
    ),
    Choice("limit", "Limit", "Take this much at the start and leave the rest to other processes."),
    Choice(
        _GROWING["limit"],
        "Grow up to a limit",
        (
            "Start small and take more when needed, up to this limit; leave the rest to other "
            "processes."
        ),
    ),
    Choice(
        "split",
        "Split",
        "Make several logical devices of this GPU, to try several replicas on it. Each takes its "
        "memory at the start.",
    ),
    Choice(
        _GROWING["split"],
        "Split, and grow",
        (
            "Make several logical devices of this GPU. Each starts small and takes more when "
            "needed, up to its part."
        ),
    ),
)


class MemoryEditor(QWidget):
    """Speaks a :data:`MemoryPolicy`; what a limit or a split was stays when another is shown."""

    valueChanged = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib: int | None = None
        self._free_mib: int | None = None
        self._capability: tuple[int, int] | None = None
        self._offered = {"limit", "split"}
        self.policy = ChoiceBox(_CHOICES)
        """Which kind of policy it is."""
        self.policy.setAccessibleName("Memory policy")
        self.menu = MemoryMenu()
        """Presets, apply to all, allocator."""
        self._limit = LimitEditor()
        self._split = SplitEditor()
        self._available = ElidedLabel()
        self._available.setProperty("textSize", "small")
        self._available.setProperty("tone", "muted")
        self._available.setToolTip(wrapped(_AVAILABLE_LESSON))
        self._allocator_shown = Allocator.BFC
        self._allocator = QLabel()
        self._allocator.setProperty("textSize", "small")
        self._allocator.setProperty("tone", "muted")
        self._arrange()
        self.setValue(GrowingMemory())
        self.setAllocator(Allocator.BFC)
        self.policy.valueChanged.connect(self._take_policy)
        self._limit.valueChanged.connect(self._report)
        self._split.valueChanged.connect(self._report)
        self.menu.policyChosen.connect(self._take_preset)

    def value(self) -> MemoryPolicy:
        """The policy that is shown."""
        match self.policy.value():
            case "all":
                return AllMemory()
            case "limit":
                return LimitedMemory(limit_mib=self._limit.value())
            case "limit_growth":
                return LimitedMemory(limit_mib=self._limit.value(), growth=True)
            case "split":
                return self._split.value()
            case "split_growth":
                return self._split.value(growth=True)
            case _:
                return GrowingMemory()

    def setValue(self, value: MemoryPolicy) -> None:
        """Show that policy."""
        choice: str = value.policy
        if isinstance(value, LimitedMemory | SplitMemory) and value.growth:
            choice = _GROWING[choice]
        if isinstance(value, LimitedMemory):
            self._limit.setValue(value.limit_mib)
        elif isinstance(value, SplitMemory):
            self._split.setValue(value)
        self.policy.setValue(choice)
        self._offered.discard(value.policy)
        self._show_policy()

    def setLimits(self, limits: tuple[int, ...]) -> None:
        """Take over limits that a person moved elsewhere, and report the new policy."""
        if len(limits) == len(limits_mib(self.value())):
            self.setValue(with_limits(self.value(), limits))
            self._report()

    def setCapability(self, capability: tuple[int, int] | None) -> None:
        """Say which compute capability the device has: newer ones give less without a limit."""
        self._capability = capability

    def setRoom(self, total_mib: int | None, free_mib: int | None) -> None:
        """Say how much memory the device has, and how much of it can be had now."""
        self._total_mib, self._free_mib = total_mib, free_mib
        self._show_available()
        self._limit.setRoom(total_mib, free_mib)
        self._split.setRoom(total_mib, free_mib)
        self.menu.setRoom(total_mib, free_mib)

    def setAllocator(self, allocator: Allocator) -> None:
        """Show who hands out the memory; nothing is said of the usual one."""
        self.menu.setAllocator(allocator)
        self._allocator_shown = allocator
        self._show_available()
        self._allocator.setText(f"Allocator: {allocator.label}")
        self._allocator.setToolTip(wrapped(allocator.description))
        self._allocator.setVisible(allocator is not Allocator.BFC)

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID // 2)
        caption = QLabel("Memory")
        caption.setBuddy(self.policy)
        row.addWidget(caption)
        row.addSpacing(GRID // 2)
        row.addWidget(self.policy, 1)
        row.addWidget(self.menu)
        layout = column_in(self)
        layout.addLayout(row)
        layout.addWidget(self._limit)
        layout.addWidget(self._split)
        layout.addWidget(self._available)
        layout.addWidget(self._allocator)

    @Slot()
    def _take_policy(self) -> None:
        policy = self._shown_policy()
        if policy in self._offered:
            self._offer(policy)
            self._offered.discard(policy)
        self._show_policy()
        self._report()

    @Slot(object)
    def _take_preset(self, policy: MemoryPolicy) -> None:
        self.setValue(policy)
        self._report()

    @Slot()
    def _report(self) -> None:
        self.valueChanged.emit(self.value())

    def _show_available(self) -> None:
        """What TensorFlow can have where nothing bounds it; the editors of limits say their own."""
        policy = self.value()
        room = self._total_mib if self._free_mib is None else self._free_mib
        bounded = isinstance(policy, LimitedMemory | SplitMemory)
        self._available.setVisible(not bounded and room is not None)
        if room is not None:
            most = available_mib(policy, self._allocator_shown, room, self._capability)
            when = "in total" if self._free_mib is None else "free now"
            self._available.setText(
                f"Up to {formatting.mib(most)}, of {formatting.mib(room)} {when}"
            )

    def _shown_policy(self) -> str:
        """The policy without whether it grows."""
        chosen = self.policy.value()
        return next((policy for policy, grows in _GROWING.items() if grows == chosen), chosen)

    def _offer(self, policy: str) -> None:
        """Begin with what fits now."""
        free = self._total_mib if self._free_mib is None else self._free_mib
        room = (free or _MODEST_MIB) - CUDA_CONTEXT_MIB
        fits = max(STEP_MIB, room // STEP_MIB * STEP_MIB)
        if policy == "limit":
            self._limit.setValue(fits)
        else:
            half = max(STEP_MIB, fits // 2 // STEP_MIB * STEP_MIB)
            self._split.setValue(SplitMemory(split_mib=(half, half)))

    def _show_policy(self) -> None:
        policy = self._shown_policy()
        self._limit.setVisible(policy == "limit")
        self._split.setVisible(policy == "split")
        self._show_available()
        chosen = self.policy.value()
        tip = next((choice.description for choice in _CHOICES if choice.value == chosen), "")
        self.policy.setToolTip(wrapped(tip))
