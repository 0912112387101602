"""Which GPUs the kernel has put to sleep, as laptops do with one that nobody uses.

Getting hold of a GPU through NVML wakes it, and NVML kept open on one keeps it awake: nvml.h says
that ``nvmlDeviceGetHandleByIndex`` initialises the target GPU, while ``nvmlInit_v2`` initialises
none. The kernel's files are read without waking anything.
https://docs.kernel.org/power/runtime_pm.html
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.pci import pci_address, short_bus_id

KERNEL_GPUS: Final = Path("/proc/driver/nvidia/gpus")
REST_S: Final = 30.0
"""How long GPUs that may fall asleep are left alone; a laptop's was seen to need 6 s for it."""
PCI_DEVICES: Final = Path("/sys/bus/pci/devices")


class PowerStates:
    """What the kernel says of the power of GPUs; asks no driver.

    Args:
        kernel_gpus: The kernel module's folder with an entry for each GPU, named by its PCI bus id.
        pci_devices: The kernel's folder with an entry for each device of the PCI bus.
    """

    def __init__(self, kernel_gpus: Path | None = None, pci_devices: Path | None = None) -> None:
        self.kernel_gpus = kernel_gpus or KERNEL_GPUS
        self._pci_devices = pci_devices or PCI_DEVICES

    def entries(self) -> tuple[str, ...]:
        """The PCI bus ids of all GPUs that the kernel module has, in the bus's order."""
        try:
            names = [entry.name for entry in self.kernel_gpus.iterdir()]
        except OSError:
            return ()
        return tuple(sorted(names, key=lambda name: (pci_address(name) or (), name)))

    def asleep(self, count: int) -> dict[int, str]:
        """The sleeping GPUs: by the driver's number of each its PCI bus id.

        Driver and kernel order GPUs alike. Where they count differently, such as in a container,
        none of the driver's numbers is known to be that of a sleeping one.

        Args:
            count: How many GPUs the driver counts.
        """
        entries = [name for name in self.entries() if pci_address(name) is not None]
        if len(entries) != count:
            return {}
        return {index: name for index, name in enumerate(entries) if self.is_asleep(name)}

    def is_asleep(self, pci_bus_id: str | None) -> bool:
        """Whether the kernel has suspended it."""
        return self._read(pci_bus_id, "runtime_status") in ("suspended", "suspending")

    def may_sleep(self, pci_bus_id: str | None) -> bool:
        """Whether the kernel suspends it when nobody uses it."""
        return self._read(pci_bus_id, "control") == "auto"

    def _read(self, pci_bus_id: str | None, name: str) -> str:
        if pci_bus_id is None:
            return ""
        try:
            # Not by pathlib, which takes three times as long: it is read again and again.
            with open(f"{self._pci_devices}/{short_bus_id(pci_bus_id)}/power/{name}", "rb") as file:  # noqa: PTH123
                return file.read().decode("ascii", errors="replace").strip()
        except OSError:
            return ""  # some kernels and containers have no such file


class GpuSleep(PowerStates):
    """Which GPUs are not to be asked now: those that sleep, and those that rest to fall asleep.

    Args:
        kernel_gpus: See :class:`PowerStates`.
        pci_devices: See :class:`PowerStates`.
        clock: Seconds that only grow.
        wakes: Sleeping GPUs are asked, too, which wakes them.
    """

    def __init__(
        self,
        kernel_gpus: Path | None,
        pci_devices: Path | None,
        clock: Callable[[], float],
        *,
        wakes: bool,
    ) -> None:
        super().__init__(kernel_gpus, pci_devices)
        self._clock = clock
        self._wakes = wakes
        self._is_woken = wakes
        self._rests_until_s: float | None = None

    @property
    def is_resting(self) -> bool:
        """Whether the driver is let go for a while."""
        return self._rests_until_s is not None

    def is_left(self, pci_bus_id: str | None) -> bool:
        """Whether a GPU sleeps, and is not to be woken."""
        return not self._wakes and self.is_asleep(pci_bus_id)

    def left(self, count: int) -> dict[int, str]:
        """Sleeping GPUs that are not to be woken, by the driver's numbers; see :meth:`asleep`.

        Args:
            count: How many GPUs the driver counts.
        """
        is_woken, self._is_woken = self._is_woken, self._wakes
        return {} if is_woken else self.asleep(count)

    def may_all_sleep(self, pci_bus_ids: Sequence[str | None]) -> bool:
        """Whether the kernel suspends each of them when nobody uses it, and they may."""
        return not self._wakes and bool(pci_bus_ids) and all(map(self.may_sleep, pci_bus_ids))

    def rest(self) -> None:
        """Ask nothing for :data:`REST_S`, and for as long as a GPU sleeps then."""
        self._rests_until_s = self._clock() + REST_S

    def goes_on_resting(self, pci_bus_ids: Sequence[str | None]) -> bool:
        """Whether nothing is to be asked now; the end of a rest is seen here."""
        if self._rests_until_s is None:
            return False
        if self._clock() < self._rests_until_s or any(map(self.is_asleep, pci_bus_ids)):
            return True
        self._rests_until_s = None
        return False

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time."""
        self._is_woken = True
        self._rests_until_s = None
