"""The cards of the devices that are there."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.ui import device_colors
from gpupanel.ui.panels.device_panel import panel_text
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.node_sections import NodeSections
from gpupanel.ui.widgets.layouts import discard

_Curves = dict[str, tuple[float | None, ...]]


class DeviceCards(QObject):
    """One for each device that is shown, in the inventory's order.

    A device that stays as it is keeps its card; another card of it has the curves of the first.

    Args:
        column: Of the device list, in which the cards stand; those of nodes in their sections.
        nodes: These; what is in a node that is not open has no card.
        parent: Owns it.
    """

    made = Signal(object)
    """There is a new card: the :class:`DeviceCard`."""

    def __init__(self, column: QVBoxLayout, nodes: NodeSections, parent: QObject) -> None:
        super().__init__(parent)
        self._column, self._nodes = column, nodes
        self._cards: tuple[DeviceCard, ...] = ()
        self._sample: TelemetrySample | None = None
        self._own_processes: frozenset[int] = frozenset()

    @property
    def all(self) -> tuple[DeviceCard, ...]:
        """From top to bottom."""
        return self._cards

    def setInventory(self, inventory: DeviceInventory) -> bool:
        """Show these devices; whether there are other cards than before."""
        before = self._cards
        kept = {(card.device, card.color): card for card in before}
        curves = {card.device.key: card.readings.history() for card in before}
        called = panel_text.labels(inventory)
        labels = {each.key: label for each, label in zip(inventory.devices, called, strict=True)}
        numbers = device_colors.known.numbers(device.key for device in inventory.devices)
        self._nodes.setDevices(inventory, numbers, labels)
        cards = []
        for device in inventory.devices:
            if device.node is None or self._nodes.is_open(device.node):
                color, label = numbers[device.key], labels[device.key]
                card = kept.pop((device, color), None)
                cards.append(card or self._new(device, color, label, curves))
        for card in kept.values():
            discard(self._nodes.layout_of(card) or self._column, [card])
        self._cards = tuple(cards)
        self._place()
        return self._cards != before

    def setSample(self, sample: TelemetrySample) -> None:
        """Show what the devices reported now, and their nodes."""
        self._sample = sample
        readings = {reading.key: reading for reading in sample.readings}
        for card in self._cards:
            card.addReading(readings.get(card.device.key))
            card.setDisk(sample.disk)
        self._nodes.setReadings(readings)

    def setOwnProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of the run shown."""
        if pids != self._own_processes:
            self._own_processes = pids
            for card in self._cards:
                card.setOwnProcesses(pids)

    def _new(self, device: PhysicalDevice, color: int, label: str, curves: _Curves) -> DeviceCard:
        card = DeviceCard(device, color, label)
        self.made.emit(card)
        card.setOwnProcesses(self._own_processes)
        card.readings.setHistory(curves.get(device.key, ()))
        if self._sample is not None and device.key not in curves:
            card.addReading(self._sample.reading(device.key))
        return card

    def _place(self) -> None:
        if len(self._nodes):
            self._nodes.place([card for card in self._cards if card.device.node is not None])
            self._nodes.tidy()
        else:
            for index, card in enumerate(self._cards):
                self._column.insertWidget(index, card)
