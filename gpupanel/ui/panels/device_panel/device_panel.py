"""The left side of the window."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import MemoryPolicy
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.ui import formatting
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.panels.device_panel.absent_card import AbsentCard
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.theme import GRID


class DevicePanel(QWidget):
    """A card per device, in the inventory's order; speaks :class:`DeviceChoices`."""

    valueChanged = Signal(object)
    """The :class:`DeviceChoices` after a person's act."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("device_list")
        self._inventory: DeviceInventory | None = None
        self._sample: TelemetrySample | None = None
        self._choices = DeviceChoices()
        self._own_processes: frozenset[int] = frozenset()
        self._is_editable = True
        self._cards: list[DeviceCard] = []
        self._absent: list[AbsentCard] = []
        self._driver = QLabel()
        self._driver.setProperty("tone", "muted")
        self._driver.setProperty("textSize", "small")
        self._notice = QLabel("Looking for devices\N{HORIZONTAL ELLIPSIS}")
        self._notice.setWordWrap(True)
        self._notice.setProperty("tone", "muted")
        self._column = QVBoxLayout()
        self._arrange()

    def value(self) -> DeviceChoices:
        """What is chosen, devices of other machines included."""
        return self._choices

    def setValue(self, value: DeviceChoices) -> None:
        """Show these choices."""
        self._choices = value
        self._show_choices()

    def setInventory(self, inventory: DeviceInventory) -> None:
        """Show these devices; cards of devices that were there before keep their curves."""
        previous, self._inventory = self._inventory, inventory
        if previous is None or previous.devices != inventory.devices:
            self._make_cards(inventory)
        self._driver.setText(f"Driver {inventory.driver}" if inventory.driver else "")
        self._notice.setText(_notice(inventory))
        self._notice.setVisible(bool(self._notice.text()))
        self._show_choices()

    def setSample(self, sample: TelemetrySample) -> None:
        """Show what the devices reported now."""
        self._sample = sample
        for card in self._cards:
            card.addReading(sample.reading(card.device.key))

    def setOwnProcesses(self, pids: frozenset[int]) -> None:
        """Tell which processes are of the run shown: their memory is drawn as ours."""
        if pids == self._own_processes:
            return
        self._own_processes = pids
        for card in self._cards:
            card.setOwnProcesses(pids)

    def setEditable(self, editable: bool) -> None:
        """Let a person change the choices, or only look while a run goes on."""
        self._is_editable = editable
        self._show_choices()

    def _arrange(self) -> None:
        caption = QLabel("DEVICES")
        caption.setProperty("role", "section")
        head = QHBoxLayout()
        head.addWidget(caption)
        head.addStretch(1)
        head.addWidget(self._driver)
        page = QWidget()
        page.setProperty("page", True)
        self._column.setContentsMargins(0, 0, GRID // 2, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(self._notice)
        self._column.addStretch(1)
        page.setLayout(self._column)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(scroll, 1)
        self.setMinimumWidth(304)

    def _make_cards(self, inventory: DeviceInventory) -> None:
        kept = {(card.device, index): card for index, card in enumerate(self._cards)}
        labels = formatting.device_labels(tuple(device.name for device in inventory.devices))
        self._cards = [
            kept.pop((device, index))
            if (device, index) in kept
            else self._new_card(inventory, index, labels[index])
            for index, device in enumerate(inventory.devices)
        ]
        for card in kept.values():
            self._drop(card)
        for index, card in enumerate(self._cards):
            self._column.insertWidget(index, card)

    def _new_card(self, inventory: DeviceInventory, index: int, label: str) -> DeviceCard:
        card = DeviceCard(inventory.devices[index], index, label)
        card.useChanged.connect(self._take_use)
        card.policyChanged.connect(self._take_policy)
        card.replicasChanged.connect(self._take_replicas)
        card.setOwnProcesses(self._own_processes)
        if self._sample is not None:
            card.addReading(self._sample.reading(card.device.key))
        return card

    def _show_choices(self) -> None:
        if self._inventory is None:
            return
        in_use = self._choices.keys_in_use(self._inventory)
        for card in self._cards:
            key = card.device.key
            card.setEditable(self._is_editable)
            card.setUse(in_use=key in in_use, is_only_one=in_use == (key,))
            card.setPolicy(self._choices.memory_policy(key))
            card.setReplicas(self._choices.devices.cpu_replicas)
        self._show_absent(self._inventory)

    def _show_absent(self, inventory: DeviceInventory) -> None:
        wanted = [
            (key, key in self._choices.devices.visible)
            for key in self._choices.absent_keys(inventory)
        ]
        if wanted != [(card.key, card.is_in_use) for card in self._absent]:
            for card in self._absent:
                self._drop(card)
            self._absent = [AbsentCard(key, in_use=in_use) for key, in_use in wanted]
            for offset, card in enumerate(self._absent):
                card.removed.connect(self._take_removal)
                self._column.insertWidget(len(self._cards) + 1 + offset, card)
        for card in self._absent:
            card.setEditable(self._is_editable)

    def _drop(self, card: QWidget) -> None:
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    @Slot(str, bool)
    def _take_use(self, key: str, on: bool) -> None:
        if self._inventory is None:
            return
        in_use = set(self._choices.keys_in_use(self._inventory)) ^ {key}
        present = tuple(each.key for each in self._inventory.devices if each.key in in_use)
        absent = tuple(each for each in self._choices.devices.visible if each not in present)
        absent = tuple(each for each in absent if self._inventory.device(each) is None)
        self._take(self._choices.with_visible((*present, *absent)))

    @Slot(str, object)
    def _take_policy(self, key: str, policy: MemoryPolicy) -> None:
        self._take(self._choices.with_memory(key, policy))

    @Slot(int)
    def _take_replicas(self, replicas: int) -> None:
        self._take(self._choices.with_cpu_replicas(replicas))

    @Slot(str)
    def _take_removal(self, key: str) -> None:
        self._take(self._choices.without(key))

    def _take(self, choices: DeviceChoices) -> None:
        self._choices = choices
        self._show_choices()
        self.valueChanged.emit(choices)


def _notice(inventory: DeviceInventory) -> str:
    """Why there is no GPU to see; empty where there is one and nothing went wrong."""
    if inventory.problem is not None:
        return inventory.problem
    if inventory.gpus:
        return ""
    if inventory.driver is None:
        return "No NVIDIA driver answers here: training runs on the CPU."
    return "The NVIDIA driver answers but lists no GPU: training runs on the CPU."
