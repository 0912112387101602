"""The GPUs seen since the start, as threads that ask the driver find and lose them."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from gpupanel.devices.nvml import NvmlGpu
from gpupanel.domain.device import DeviceLink, PhysicalDevice


@dataclass(slots=True, eq=False)
class KnownGpu:
    """A GPU, or a MIG instance of one, that was seen since the start.

    Attributes:
        device: What does not change about it, fetched once for each time it was listed.
        nvml: The way to its readings; ``None`` while it is not listed.
        driver: Version of the driver that told the facts.
    """

    device: PhysicalDevice
    nvml: NvmlGpu | None
    driver: str | None = None


class KnownGpus:
    """GPUs by their key, and the links between them. Any thread may use it.

    What a thread found is taken only while the opening of the driver lasts in which it was asked:
    a slow answer of an earlier one is of no use.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._gpus: dict[str, KnownGpu] = {}
        self._links: dict[frozenset[str], DeviceLink] = {}
        self._opening = 0

    @property
    def opening(self) -> int:
        """Which opening of the driver lasts."""
        return self._opening

    def in_order(self) -> tuple[KnownGpu, ...]:
        """All of them in PCI bus order, instances behind their GPU in the order they were found."""
        with self._lock:
            return tuple(sorted(self._gpus.values(), key=_place))

    def answering(self) -> tuple[tuple[PhysicalDevice, NvmlGpu], ...]:
        """The whole GPUs that answer, in PCI bus order."""
        return tuple(
            (gpu.device, nvml)
            for gpu in self.in_order()
            if (nvml := gpu.nvml) is not None and not gpu.device.is_mig_instance
        )

    def get(self, key: str) -> KnownGpu | None:
        """The one with that key."""
        with self._lock:
            return self._gpus.get(key)

    def is_current(self, gpu: KnownGpu) -> bool:
        """Whether it answers as far as is known, and was not listed anew meanwhile."""
        with self._lock:
            return gpu.nvml is not None and self._gpus.get(gpu.device.key) is gpu

    def put(self, gpu: KnownGpu, opening: int) -> bool:
        """Add it, in place of an earlier one; answers whether the opening still lasts."""
        with self._lock:
            if opening == self._opening:
                self._gpus[gpu.device.key] = gpu
            return opening == self._opening

    def keep_instances(self, parent_key: str, keys: Iterable[str]) -> None:
        """Forget the instances of a GPU that are not among ``keys``: they were taken apart."""
        there = set(keys)
        with self._lock:
            self._gpus = {
                key: gpu
                for key, gpu in self._gpus.items()
                if gpu.device.parent_key != parent_key or key in there
            }

    def lose(self, gpu: KnownGpu) -> tuple[KnownGpu, ...]:
        """Note that it does not answer; gives those that are lost by this, instances too."""
        with self._lock:
            if not self.is_current(gpu):
                return ()
            lost = tuple(
                each
                for each in self._gpus.values()
                if each is gpu or (each.nvml and each.device.parent_key == gpu.device.key)
            )
            for each in lost:
                each.nvml = None
            return lost

    def lose_all(self) -> None:
        """Note that nothing answers, and that the opening of the driver ended."""
        with self._lock:
            self._opening += 1
            for gpu in self._gpus.values():
                gpu.nvml = None

    def links(self) -> tuple[DeviceLink, ...]:
        """Those between GPUs seen so far, in their order."""
        with self._lock:
            return tuple(self._links.values())

    def put_links(self, links: Iterable[DeviceLink], opening: int) -> None:
        """Add links, in place of earlier ones of the same pairs."""
        with self._lock:
            if opening != self._opening:
                return
            self._links |= {frozenset(link.keys): link for link in links}
            places = {gpu.device.key: place for place, gpu in enumerate(self.in_order())}
            ordered = sorted(
                self._links.items(), key=lambda item: [places[key] for key in item[1].keys]
            )
            self._links = dict(ordered)


def _place(gpu: KnownGpu) -> tuple[str, str, bool]:
    device = gpu.device
    return device.pci_bus_id or "~", device.parent_key or device.key, device.is_mig_instance
