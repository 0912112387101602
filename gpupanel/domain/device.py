"""Physical devices as they are found on this machine, and what they report."""

from enum import StrEnum

from gpupanel.domain.value import Value

CPU_KEY = "cpu"
"""The key of the host's processor, where a GPU has its NVML UUID."""


class DeviceKind(StrEnum):
    """What a physical device is."""

    GPU = "gpu"
    CPU = "cpu"


class DeviceState(StrEnum):
    """Whether a physical device answers."""

    OK = "ok"
    LOST = "lost"
    """It was there and stopped answering: fallen off the bus, or its driver went away."""


class DeviceProcess(Value):
    """A process that holds memory of a GPU."""

    pid: int
    name: str | None = None
    user: str | None = None
    command: str | None = None
    memory_used_mib: int | None = None


class PhysicalDevice(Value):
    """What does not change about a device while the machine runs.

    Attributes:
        key: The NVML UUID of a GPU (``GPU-5f0c...``), ``cpu`` for the host's processor. The one
            identity of a device everywhere, profiles too: CUDA numbers GPUs fastest first and
            NVML by PCI bus, so indexes mean nothing.
        name: As the driver names it ("NVIDIA GeForce RTX 4090").
        memory_total_mib: The GPU's memory, or the host's.
        compute_capability: Major and minor version (8, 9); ``None`` for the CPU or when unknown.
        pci_bus_id: As NVML writes it; ``None`` for the CPU or when unknown.
        core_count: Logical processors of the CPU; ``None`` for a GPU.
        power_limit_w: The power limit in force.
    """

    key: str
    kind: DeviceKind
    name: str
    memory_total_mib: int | None = None
    compute_capability: tuple[int, int] | None = None
    pci_bus_id: str | None = None
    core_count: int | None = None
    power_limit_w: float | None = None

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.kind is DeviceKind.GPU


class DeviceReading(Value):
    """What a device reported at one moment. What it cannot tell is ``None``.

    Attributes:
        key: The :attr:`PhysicalDevice.key` that it belongs to.
        memory_used_mib: What processes hold; what the driver keeps for itself is not counted.
        memory_free_mib: What can still be taken. Less than total minus used where the driver
            keeps some for itself.
        gpu_utilization_percent: Percent of the last sample period with a kernel running (NVML's
            definition: not how full the GPU is). For the CPU, percent of all cores busy.
        temperature_c: Of the GPU's core, or of the processor package.
    """

    key: str
    state: DeviceState = DeviceState.OK
    memory_used_mib: int | None = None
    memory_free_mib: int | None = None
    memory_total_mib: int | None = None
    gpu_utilization_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    processes: tuple[DeviceProcess, ...] = ()


class TelemetrySample(Value):
    """Readings of all devices taken together: one line of ``telemetry.jsonl``.

    Attributes:
        time_s: Seconds since the epoch (UTC), as :func:`time.time` gives them.
    """

    time_s: float
    readings: tuple[DeviceReading, ...]

    def reading(self, key: str) -> DeviceReading | None:
        """The reading of one device, or ``None`` when this sample has none of it."""
        return next((reading for reading in self.readings if reading.key == key), None)


class DeviceInventory(Value):
    """The devices of this machine: GPUs in PCI bus order, then the CPU.

    Attributes:
        driver: Version of the NVIDIA driver, ``None`` where there is none.
        devices: Never empty: the host's CPU is always there.
        problem: Why GPUs cannot be listed although a driver was expected, in one sentence.
    """

    driver: str | None = None
    devices: tuple[PhysicalDevice, ...]
    problem: str | None = None

    @property
    def gpus(self) -> tuple[PhysicalDevice, ...]:
        """The GPUs, in PCI bus order."""
        return tuple(device for device in self.devices if device.is_gpu)

    def device(self, key: str) -> PhysicalDevice | None:
        """The device with that key, or ``None`` when it is not in this machine."""
        return next((device for device in self.devices if device.key == key), None)
