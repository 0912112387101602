"""The nodes of a cluster in the device list, each with the cards of its devices."""

import re
from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout

from gpupanel.domain.cluster import ClusterNode, ClusterReading
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.node_section import NodeSection
from gpupanel.ui.widgets.layouts import discard

_OPEN_AT_MOST: Final = 12
"""With more devices than that in all nodes, only the nodes are shown until a person opens one: a
card takes milliseconds to make, and a tenth of a window's height."""


class NodeSections(QObject):
    """Keeps a section a node at the top of a column, by name, whatever becomes of the nodes.

    Args:
        column: Of the device list.
        parent: Owns it.
    """

    openChanged = Signal()
    """A person opened or folded a node: other cards are wanted."""
    useChanged = Signal(str)
    """The name of a node that a person switched on or off."""

    def __init__(self, column: QVBoxLayout, parent: QObject) -> None:
        super().__init__(parent)
        self._column = column
        self._sections: dict[str, NodeSection] = {}
        self._opened: dict[str, bool] = {}
        self._nodes: dict[str, ClusterNode] = {}
        self._here = ""

    def __len__(self) -> int:
        return len(self._sections)

    def setReading(self, reading: ClusterReading | None) -> None:
        """Show these nodes; sections of nodes that are none any more go with :meth:`tidy`."""
        nodes = () if reading is None else reading.nodes
        self._here = "" if reading is None else reading.here
        self._nodes = {node.name: node for node in nodes}
        for name in sorted(self._nodes, key=_natural):
            if name not in self._sections:
                self._sections[name] = self._new_section(name)
        order = sorted(self._sections, key=_natural)
        if list(self._sections) != order:
            self._sections = {name: self._sections[name] for name in order}
        for index, section in enumerate(self._sections.values()):
            if self._column.indexOf(section) != index:
                self._column.insertWidget(index, section)
        self._show_nodes()

    def tidy(self) -> None:
        """Take down the sections of nodes that are none any more: they hold no card by now."""
        gone = [name for name in self._sections if name not in self._nodes]
        discard(self._column, [self._sections.pop(name) for name in gone])

    def setDevices(
        self, inventory: DeviceInventory, colors: Mapping[str, int], labels: Mapping[str, str]
    ) -> None:
        """Know the devices of each node.

        Args:
            inventory: Of all nodes.
            colors: Numbers of their colours, by their keys.
            labels: What they are called within their nodes, by their keys.
        """
        by_node: dict[str | None, list[PhysicalDevice]] = {}
        for device in inventory.devices:
            by_node.setdefault(device.node, []).append(device)
        has_room = len(inventory.devices) <= _OPEN_AT_MOST
        for name, section in self._sections.items():
            section.setDevices(tuple(by_node.get(name, ())), colors, labels)
            section.setOpen(is_open=self._opened.get(name, has_room))
        self._show_nodes()

    def is_open(self, node: str) -> bool:
        """Whether the cards of that node are shown."""
        return node in self._sections and self._sections[node].is_open

    def open(self, node: str) -> None:
        """Show the cards of that node, as if a person had opened it."""
        if node in self._sections and not self.is_open(node):
            self._take_fold(node, is_open=True)

    def place(self, cards: list[DeviceCard]) -> None:
        """Put cards into the sections of their nodes, in that order."""
        counts: dict[str, int] = {}
        for card in cards:
            node = str(card.device.node)
            place = counts.get(node, 0)
            counts[node] = place + 1
            layout = self._sections[node].cards
            if layout.indexOf(card) != place:
                layout.insertWidget(place, card)

    def layout_of(self, card: DeviceCard) -> QVBoxLayout | None:
        """Where a card stands; ``None``: it is of no node."""
        layouts = (section.cards for section in self._sections.values())
        return next((each for each in layouts if each.indexOf(card) >= 0), None)

    def head_height(self) -> int:
        """Pixels of all that stands here beside the cards."""
        return sum(section.head_height() for section in self._sections.values())

    def setReadings(self, readings: Mapping[str, DeviceReading]) -> None:
        """Show how busy the devices are, by their keys."""
        for section in self._sections.values():
            section.setReadings(readings)

    def setUse(self, in_use: frozenset[str], processors: frozenset[str]) -> None:
        """Show which nodes take part.

        Args:
            in_use: Keys of the devices in use.
            processors: Keys of all processors.
        """
        taking = [
            name
            for name, section in self._sections.items()
            if any(device.key in in_use for device in section.devices)
        ]
        on_gpus = bool(in_use - processors)
        for name, section in self._sections.items():
            has_gpu = any(device.key not in processors for device in section.devices)
            section.setUse(in_use, is_only_one=taking == [name], can_join=has_gpu or not on_gpus)

    def _show_nodes(self) -> None:
        for name, section in self._sections.items():
            node = self._nodes.get(name)
            if node is not None:
                section.setNode(node, is_here=node.id == self._here)

    def _new_section(self, name: str) -> NodeSection:
        section = NodeSection(name)
        section.foldChanged.connect(self._take_fold)
        section.useChanged.connect(self.useChanged)
        return section

    @Slot(str, bool)
    def _take_fold(self, node: str, is_open: bool) -> None:
        self._opened[node] = is_open
        self._sections[node].setOpen(is_open=is_open)
        self.openChanged.emit()


def _natural(name: str) -> list[tuple[int, int | str]]:
    """For an order in which node10 comes after node9."""
    parts = re.split(r"(\d{1,15})", name)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]
