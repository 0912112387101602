"""What else can be done with a GPU's memory and its power, behind one small button."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from gpupanel.domain.memory import Allocator, LimitedMemory, MemoryPolicy
from gpupanel.planning.memory_presets import MemoryPreset, preset_policy
from gpupanel.ui import formatting
from gpupanel.ui.widgets.tips import wrapped

_PRESETS = (
    (
        MemoryPreset.SHARE_WITH_DESKTOP,
        "Share with the desktop",
        "Grow up to what is free now, less 1 GiB for the desktop.",
    ),
    (
        MemoryPreset.LEAVE_ROOM_FOR_OTHERS,
        "Leave room for other processes",
        "Grow up to half of this GPU.",
    ),
    (
        MemoryPreset.EVERYTHING,
        "Take all",
        "Take nearly all free memory at the start: TensorFlow's default.",
    ),
)


class MemoryMenu(QToolButton):
    """Presets, the same for all GPUs, the allocator, and the power limit."""

    policyChosen = Signal(object)
    """A person chose a preset: the :data:`MemoryPolicy` that it means on this GPU now."""
    applyRequested = Signal()
    """All GPUs in use are to be like this one."""
    allocatorChosen = Signal(object)
    """The :class:`Allocator` of all GPUs."""
    powerRequested = Signal()
    """A person wants to see the power limit, or to set another one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total_mib: int | None = None
        self._free_mib: int | None = None
        self.setText("\N{MIDLINE HORIZONTAL ELLIPSIS}")
        self.setProperty("role", "icon")
        self.setAccessibleName("More memory settings")
        self.setToolTip("Presets, apply to all GPUs, allocator, power limit.")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self._presets = {preset: menu.addAction(label) for preset, label, _ in _PRESETS}
        for preset, _, tip in _PRESETS:
            self._presets[preset].setToolTip(wrapped(tip))
        menu.addSeparator()
        self._apply = menu.addAction("Apply to all GPUs in use")
        menu.addSeparator()
        self._allocators = self._allocator_menu(menu)
        menu.addSeparator()
        self._power = menu.addAction("Power limit…")
        self._power.setToolTip(wrapped("Shows the GPU's power limit, and sets another one."))
        self.setMenu(menu)
        menu.aboutToShow.connect(self._show_meaning)
        menu.triggered.connect(self._take)
        self.setAllocator(Allocator.BFC)
        self.setOthersInUse(0)

    def setRoom(self, total_mib: int | None, free_mib: int | None) -> None:
        """Say how much memory the device has, and how much can be had of it now."""
        self._total_mib, self._free_mib = total_mib, free_mib

    def setPowerShown(self, *, shown: bool) -> None:
        """Offer the power limit or not: it is of a whole GPU of this machine that reports one."""
        self._power.setVisible(shown)

    def setAllocator(self, allocator: Allocator) -> None:
        """Show which one is chosen."""
        self._allocators[allocator].setChecked(True)

    def setOthersInUse(self, count: int) -> None:
        """Say how many other GPUs are in use."""
        self._apply.setEnabled(count > 0)
        self._apply.setToolTip(
            wrapped(
                "Gives every GPU in use the memory policy of this one, as far as it fits."
                if count
                else "There is no other GPU in use."
            )
        )

    def _allocator_menu(self, menu: QMenu) -> dict[Allocator, QAction]:
        below = menu.addMenu("Allocator of all GPUs")
        below.setToolTipsVisible(True)
        group = QActionGroup(self)
        actions = {}
        for allocator in Allocator:
            action = below.addAction(allocator.label)
            action.setToolTip(wrapped(allocator.description))
            action.setCheckable(True)
            group.addAction(action)
            actions[allocator] = action
        return actions

    def _policy(self, preset: MemoryPreset) -> MemoryPolicy:
        return preset_policy(preset, total_mib=self._total_mib, free_mib=self._free_mib)

    @Slot()
    def _show_meaning(self) -> None:
        """Beside each preset stands what it means on this GPU now."""
        for preset, label, _ in _PRESETS:
            policy = self._policy(preset)
            if isinstance(policy, LimitedMemory):
                label = f"{label}: up to {formatting.mib(policy.limit_mib)}"
            self._presets[preset].setText(label)

    @Slot(QAction)
    def _take(self, action: QAction) -> None:
        if action is self._apply:
            self.applyRequested.emit()
        if action is self._power:
            self.powerRequested.emit()
        for preset, each in self._presets.items():
            if action is each:
                self.policyChosen.emit(self._policy(preset))
        for allocator, each in self._allocators.items():
            if action is each:
                self.allocatorChosen.emit(allocator)
