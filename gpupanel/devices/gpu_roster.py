"""Which GPUs are there, which were there and are lost, and when to look again."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.devices.driver_problem import driver_problem
from gpupanel.devices.nvml import DriverGoneError, GpuLostError, NvmlGpu, NvmlLibrary
from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.problem import Problem

_LOG = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 1.0
"""How often to see whether GPUs or the driver came or went."""

_KERNEL_GPUS: Final = Path("/proc/driver/nvidia/gpus")


@dataclass(slots=True)
class KnownGpu:
    """A GPU that was seen since the start.

    Attributes:
        device: What does not change about it, fetched once for each time it was listed.
        nvml: The way to its readings; ``None`` while it is not listed.
    """

    device: PhysicalDevice
    nvml: NvmlGpu | None


class GpuRoster:
    """Every GPU seen so far, in PCI bus order, and the driver's life with them.

    A GPU once seen stays in the roster: lost is a state, not an absence. Nothing here raises for
    a sick device or driver.
    """

    def __init__(
        self,
        library: NvmlLibrary | None = None,
        clock: Callable[[], float] = time.monotonic,
        kernel_gpus: Path = _KERNEL_GPUS,
    ) -> None:
        """The driver is first asked by :meth:`look`.

        Args:
            library: The driver's management library.
            clock: Seconds that only grow.
            kernel_gpus: The kernel module's folder with an entry for each GPU.
        """
        self._library = library or NvmlLibrary()
        self._clock = clock
        self._kernel_gpus = kernel_gpus
        self._known: dict[str, KnownGpu] = {}
        self._is_open = False
        self._listing: tuple[int, tuple[str, ...]] | None = None
        self._looked_at: float | None = None
        self._failure: DriverGoneError | None = None
        self._driver: str | None = None

    @property
    def driver(self) -> str | None:
        """The driver's version, ``None`` while no driver answers."""
        return self._driver

    @property
    def problem(self) -> Problem | None:
        """Why no GPU can be read although a driver is expected; ``None`` when all is well."""
        return None if self._failure is None else driver_problem(self._failure)

    @property
    def cuda_version(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver can run."""
        return self._library.cuda_version() if self._is_open else None

    @property
    def gpus(self) -> tuple[KnownGpu, ...]:
        """Every GPU seen since the start, in PCI bus order."""
        return tuple(sorted(self._known.values(), key=lambda gpu: gpu.device.pci_bus_id or "~"))

    def look(self) -> None:
        """See what came and went, if :data:`LOOK_INTERVAL_S` has passed since the last look.

        A driver that was absent is tried again; one whose list of GPUs changed, or of whose GPUs
        none answers any more, is initialised anew, since NVML lists GPUs when it initialises.
        """
        if self._looked_at is not None and self._clock() - self._looked_at < LOOK_INTERVAL_S:
            return
        try:
            self._look()
        except DriverGoneError as gone:
            self.driver_gone(gone)
        finally:
            # From the end: a driver that takes long to answer is not asked without a pause.
            self._looked_at = self._clock()

    def lose(self, gpu: KnownGpu) -> None:
        """Note that a GPU does not answer; it comes back with the next listing that has it."""
        if gpu.nvml is not None:
            _LOG.info("%s (%s) does not answer any more", gpu.device.name, gpu.device.key)
        gpu.nvml = None

    def driver_gone(self, gone: DriverGoneError) -> None:
        """Note that the driver does not answer; the next look tries to open it again."""
        if self._failure is None or self._failure.failure is not gone.failure:
            _LOG.debug("The NVIDIA driver does not answer: %s", gone.detail)
        self.close()
        self._failure = gone

    def close(self) -> None:
        """Let the driver go; GPUs seen so far are lost until it is opened again."""
        if self._is_open:
            self._library.close()
        self._is_open = False
        self._driver = None
        for gpu in self._known.values():
            gpu.nvml = None

    def _look(self) -> None:
        answering = sum(gpu.nvml is not None for gpu in self._known.values())
        none_answers = bool(self._known) and not answering
        if self._is_open and (none_answers or self._list_now() != self._listing):
            self.close()
        if not self._is_open:
            self._open()
        elif self._listing is not None and answering < self._listing[0]:
            self._list_gpus()

    def _list_now(self) -> tuple[int, tuple[str, ...]]:
        """What tells that a GPU came or went: NVML's count, and the kernel's own list.

        NVML's may be that of its initialisation; the kernel's knows a GPU as soon as it is there.
        """
        try:
            entries = tuple(sorted(entry.name for entry in self._kernel_gpus.iterdir()))
        except OSError:
            entries = ()
        return self._library.gpu_count(), entries

    def _open(self) -> None:
        self._library.open()
        self._is_open = True
        self._failure = None
        self._driver = self._library.driver_version()
        self._listing = self._list_now()
        self._list_gpus()

    def _list_gpus(self) -> None:
        for nvml in self._library.gpus():
            try:
                self._add(nvml)
            except GpuLostError as lost:
                _LOG.debug("A GPU was lost while it was looked at: %s", lost)

    def _add(self, nvml: NvmlGpu) -> None:
        """Add a GPU, unless it is there and answers: its facts are fetched once."""
        key = nvml.uuid()
        known = None if key is None else self._known.get(key)
        if known is not None and known.nvml is not None:
            return
        if key is None:
            # Without an identity nothing can be chosen or remembered about it.
            _LOG.debug("A GPU is left out, since the driver does not tell its UUID")
            return
        memory = nvml.memory()
        device = PhysicalDevice(
            key=key,
            kind=DeviceKind.GPU,
            name=nvml.name() or "NVIDIA GPU",
            memory_total_mib=None if memory is None else memory.total_mib,
            compute_capability=nvml.compute_capability(),
            pci_bus_id=nvml.pci_bus_id(),
            power_limit_w=nvml.power_limit_w(),
        )
        self._known[key] = KnownGpu(device, nvml)
