"""Every GPU seen so far, whether it answers now or not."""

import logging
import threading
from collections.abc import Container

from gpupanel.devices.gpus.facts import KnownGpu
from gpupanel.devices.nvml import NvmlGpu
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.pci import is_same_pci_device, pci_address

_LOG = logging.getLogger(__name__)


class KnownGpus:
    """GPUs and MIG instances by their UUID; a GPU stays, an instance goes with being taken apart.

    Attributes:
        lock: Held while they change; may be taken again by who holds it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._by_key: dict[str, KnownGpu] = {}
        self._in_order: tuple[KnownGpu, ...] | None = ()

    def all(self) -> tuple[KnownGpu, ...]:
        """In PCI bus order, instances behind their GPU."""
        with self.lock:
            if self._in_order is None:
                self._in_order = tuple(sorted(self._by_key.values(), key=_place))
            return self._in_order

    def get(self, key: str) -> KnownGpu | None:
        """The one with that UUID."""
        with self.lock:
            return self._by_key.get(key)

    def at(self, pci_bus_id: str) -> KnownGpu | None:
        """A GPU at that place."""
        places = (each for each in self.all() if not each.device.is_mig_instance)
        same = (each for each in places if is_same_pci_device(each.device.pci_bus_id, pci_bus_id))
        return next(same, None)

    def answers(self, key: str | None) -> bool:
        """Whether the one with that UUID answers, as far as is known."""
        known = None if key is None else self.get(key)
        return known is not None and known.nvml is not None

    def whole_answering(self) -> tuple[tuple[PhysicalDevice, NvmlGpu], ...]:
        """The whole GPUs that answer, in PCI bus order."""
        return tuple(
            (gpu.device, nvml)
            for gpu in self.all()
            if (nvml := gpu.nvml) is not None and not gpu.device.is_mig_instance
        )

    def bus_ids(self) -> tuple[str | None, ...]:
        """Where they are."""
        return tuple(gpu.device.pci_bus_id for gpu in self.all())

    def keys_within(self, gpu: KnownGpu) -> frozenset[str]:
        """The UUID of the GPU and those of its MIG instances."""
        own = gpu.device.key
        devices = [each.device for each in self.all()]
        return frozenset(each.key for each in devices if own in (each.key, each.parent_key))

    def is_current(self, gpu: KnownGpu) -> bool:
        """Whether it answers as far as is known, and was not listed anew meanwhile."""
        with self.lock:
            return gpu.nvml is not None and self._by_key.get(gpu.device.key) is gpu

    def put(self, gpu: KnownGpu) -> None:
        """Add it, in place of an earlier one with its UUID."""
        with self.lock:
            self._by_key[gpu.device.key] = gpu
            self._in_order = None

    def lose(self, gpu: KnownGpu, failure: GpuFailure) -> None:
        """Note that it does not answer, and why; nor do its instances."""
        with self.lock:
            if not self.is_current(gpu):
                return
            for each in self._by_key.values():
                if each is gpu or (each.nvml and each.device.parent_key == gpu.device.key):
                    each.nvml = None
                    each.failure = failure
                    device, why = each.device, failure.words
                    _LOG.info("%s (%s) does not answer any more: %s", device.name, device.key, why)

    def lose_all(self) -> None:
        """Note that the driver was let go."""
        with self.lock:
            for gpu in self._by_key.values():
                gpu.nvml = None

    def keep_instances(self, gpu: KnownGpu, keys: Container[str]) -> None:
        """Forget instances of a GPU that were taken apart.

        Args:
            gpu: The whole GPU.
            keys: The UUIDs of those that there are.
        """
        with self.lock:
            self._by_key = {
                key: each
                for key, each in self._by_key.items()
                if each.device.parent_key != gpu.device.key or key in keys
            }
            self._in_order = None


def _place(gpu: KnownGpu) -> tuple[bool, tuple[int, ...], str, bool]:
    device = gpu.device
    # Driver and kernel write the same place with another number of digits.
    address = pci_address(device.pci_bus_id)
    key = device.parent_key or device.key
    return address is None, address or (), key, device.is_mig_instance
