"""What the devices of several nodes report, put together as a sampler of one machine gives it."""

import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gpupanel.domain.cluster import key_in, node_readings
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample


@dataclass(frozen=True, slots=True)
class _Node:
    inventory: DeviceInventory
    sample: TelemetrySample
    taken_s: float
    is_lost: bool = False


class NodeSamples:
    """Keeps the last sample of each node.

    It is asked as a :class:`~gpupanel.devices.sampler.DeviceSampler` is. Safe to use from several
    threads.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is open."""

    def take(self, node: str, inventory: DeviceInventory | None, sample: TelemetrySample) -> None:
        """Take in what the devices of a node have reported.

        Args:
            node: Its name.
            inventory: Its devices; ``None``: those that it has had before.
            sample: What they report.
        """
        with self._lock:
            if inventory is None:
                before = self._nodes.get(node)
                if before is None:
                    return  # nothing is known of what it reports
                inventory = before.inventory
            self._nodes[node] = _Node(inventory, sample, time.monotonic())

    def lose(self, node: str) -> None:
        """The node does not answer any more: its devices count as lost."""
        with self._lock:
            if node in self._nodes:
                last = self._nodes[node]
                self._nodes[node] = _Node(last.inventory, last.sample, last.taken_s, is_lost=True)

    def inventory(self) -> DeviceInventory | None:
        """The devices of every node that was heard of; ``None``: of none yet."""
        with self._lock:
            nodes = dict(self._nodes)
        devices = tuple(
            device.model_copy(update={"key": key_in(name, device), "node": name})
            for name, node in nodes.items()
            for device in node.inventory.devices
        )
        return DeviceInventory(devices=devices) if devices else None

    def sample(self) -> TelemetrySample:
        """The last readings of every node, with their ages."""
        with self._lock:
            nodes = dict(self._nodes)
        readings = tuple(
            _aged(reading, node)
            for name, node in nodes.items()
            for reading in node_readings(name, node.inventory, node.sample)
        )
        return TelemetrySample(time_s=time.time(), readings=readings)


_FRESH_S = 1.5
"""A node reports twice a second."""


def _aged(reading: DeviceReading, node: _Node) -> DeviceReading:
    if node.is_lost:
        return DeviceReading(
            key=reading.key, state=DeviceState.LOST, memory_total_mib=reading.memory_total_mib
        )
    age_s = time.monotonic() - node.taken_s
    return reading if age_s < _FRESH_S else reading.model_copy(update={"age_s": age_s})
