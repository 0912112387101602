"""Physical devices as they are found on this machine: what does not change about them."""

from enum import StrEnum

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.device_names import numbered
from gpupanel.domain.gpu_failure import ASLEEP, GpuFailure
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.pci import is_same_pci_device, short_bus_id
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value

CPU_KEY = "cpu"
"""The key of the host's processor, where a GPU has its NVML UUID."""


class DeviceKind(StrEnum):
    """What a physical device is."""

    GPU = "gpu"
    CPU = "cpu"


class PhysicalDevice(Value):
    """What does not change about a device while the machine runs.

    Attributes:
        key: The NVML UUID of a GPU (``GPU-5f0c...``) or of a MIG instance (``MIG-...``), ``cpu``
            for the host's processor. The one identity of a device everywhere, profiles too: CUDA
            numbers GPUs fastest first and NVML by PCI bus, so indexes mean nothing.
        name: As the driver names it ("NVIDIA GeForce RTX 4090").
        memory_total_mib: The GPU's memory, or the host's.
        architecture: NVIDIA's name of the GPU's generation ("Ada Lovelace").
        compute_capability: Major and minor version (8, 9); ``None`` for the CPU or when unknown.
        pci_bus_id: As NVML writes it; ``None`` for the CPU or when unknown. A MIG instance has
            that of its GPU.
        core_count: Logical processors of the CPU; ``None`` for a GPU.
        power_limit_w: The power limit in force when the device was listed.
        power_limit_default_w: The limit that it has unless somebody sets another one.
        power_limit_least_w: The least limit that can be set.
        power_limit_most_w: The greatest one.
        temperature_slowdown_c: Where the GPU begins to slow itself down.
        temperature_shutdown_c: Where the GPU shuts itself down.
        pcie_generation_max: Of the PCI Express link that GPU and slot could have.
        pcie_width_max: Lanes of that link.
        is_partitioned: A GPU in MIG mode: only its instances can compute.
        parent_key: The GPU that a MIG instance is a part of; ``None`` for a whole GPU.
        node: The node of a cluster that it is in; ``None``: this machine.
    """

    key: str
    kind: DeviceKind
    name: str
    memory_total_mib: int | None = None
    architecture: str | None = None
    compute_capability: tuple[int, int] | None = None
    pci_bus_id: str | None = None
    core_count: int | None = None
    power_limit_w: float | None = None
    power_limit_default_w: float | None = None
    power_limit_least_w: float | None = None
    power_limit_most_w: float | None = None
    temperature_slowdown_c: float | None = None
    temperature_shutdown_c: float | None = None
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    is_partitioned: bool = False
    parent_key: str | None = None
    node: str | None = None

    @property
    def key_on_node(self) -> str:
        """The device's key on its own machine, where the CPU is ``cpu``."""
        return self.key if self.is_gpu else CPU_KEY

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU, or an instance of one."""
        return self.kind is DeviceKind.GPU

    @property
    def is_mig_instance(self) -> bool:
        """Whether it is a part of a GPU in MIG mode."""
        return self.parent_key is not None


class LinkKind(StrEnum):
    """The nearest thing that two GPUs have in common, the fastest first."""

    NVLINK = "nvlink"
    SAME_BOARD = "same_board"
    PCIE_SWITCH = "pcie_switch"
    """One PCI Express switch between them."""
    PCIE_SWITCHES = "pcie_switches"
    """Several switches, without the host bridge."""
    HOST_BRIDGE = "host_bridge"
    NUMA_NODE = "numa_node"
    SYSTEM = "system"
    """Through the link between processors."""


class DeviceLink(Value):
    """How two GPUs are connected.

    Attributes:
        keys: The two, in the inventory's order.
        nvlink_count: NVLink connections that are up between them; 0 without any.
    """

    keys: tuple[str, str]
    kind: LinkKind
    nvlink_count: int = 0


class UnresponsiveGpu(Value):
    """A GPU that the driver counts and that has not answered since the first listing.

    Without an answer it has no identity, so it cannot be chosen.

    Attributes:
        failure: What came back when it was asked.
        index: The driver's number of it, as nvidia-smi shows it.
        name: The product's, where the driver or the kernel knows it.
        pci_bus_id: Where it is, where the driver or the kernel knows it.
        key: Its UUID, where the kernel knows it.
    """

    failure: GpuFailure
    index: int | None = None
    name: str | None = None
    pci_bus_id: str | None = None
    key: str | None = None

    @property
    def title(self) -> str:
        """What it is called: "NVIDIA GeForce RTX 3060 at 0000:02:00.0", "GPU 2"."""
        if self.pci_bus_id is not None:
            return f"{self.name or 'The GPU'} at {short_bus_id(self.pci_bus_id)}"
        return self.name or ("A GPU" if self.index is None else f"GPU {self.index}")

    @property
    def is_asleep(self) -> bool:
        """Whether it was not asked at all, since that would wake it."""
        return self.failure == ASLEEP

    @property
    def sentence(self) -> str:
        """What is wrong with it, without a full stop."""
        if self.is_asleep:
            return f"{self.title} is asleep, and not known yet: being asked would wake it"
        return f"{self.title} does not answer: {self.failure.words}"

    def is_meant_by(self, key: str) -> bool:
        """Whether a profile's key is its UUID, its PCI bus id or its number."""
        if key == self.key or (self.index is not None and key == str(self.index)):
            return True
        return bool(is_same_pci_device(key, self.pci_bus_id))


class DeviceInventory(Value):
    """The devices of this machine: GPUs in PCI bus order, then the CPU.

    The instances of a GPU in MIG mode stand right behind it.

    Attributes:
        driver: Version of the NVIDIA driver, ``None`` where there is none.
        devices: Never empty: the host's CPU is always there.
        links: One for each pair of GPUs whose connection is known.
        problem: Why GPUs cannot be listed although a driver was expected, in one sentence.
        unresponsive: GPUs that the driver counts and that have not answered since they were first
            listed. One that stops answering later stays among the devices.
        network: Who could reach the ports of a run; ``None``: nobody asked.
        cuda_variables: What the shell says of GPUs that a run is asked for from; ``None``: it has
            no say.
        shell_variables: The names of other variables of that shell that change a run, or that it
            begins without (:mod:`~gpupanel.domain.inherited_variables`).
        environment_problems: Packages of elsewhere that stand before those of gpupanel.
    """

    driver: str | None = None
    devices: tuple[PhysicalDevice, ...]
    links: tuple[DeviceLink, ...] = ()
    problem: str | None = None
    unresponsive: tuple[UnresponsiveGpu, ...] = ()
    network: NetworkAccess | None = None
    cuda_variables: CudaVariables | None = None
    shell_variables: tuple[str, ...] = ()
    environment_problems: tuple[Problem, ...] = ()

    @property
    def gpus(self) -> tuple[PhysicalDevice, ...]:
        """What can compute besides the CPU: whole GPUs and MIG instances, in PCI bus order."""
        return tuple(
            device for device in self.devices if device.is_gpu and not device.is_partitioned
        )

    def device(self, key: str) -> PhysicalDevice | None:
        """The device with that key, or ``None`` when it is not in this machine."""
        return next((device for device in self.devices if device.key == key), None)

    def name_of(self, key: str) -> str:
        """What a device is called that equal ones cannot be taken for; its key: it is not here."""
        return dict(zip((each.key for each in self.devices), self._names, strict=True)).get(
            key, key
        )

    def numbered(self) -> "DeviceInventory":
        """The same for sentences: equal devices of a machine have a number in their names."""
        devices = tuple(
            device.model_copy(update={"name": name})
            for device, name in zip(self.devices, self._names, strict=True)
        )
        return self if devices == self.devices else self.model_copy(update={"devices": devices})

    @property
    def _names(self) -> tuple[str, ...]:
        devices = self.devices
        return numbered([each.name for each in devices], [each.node for each in devices])

    def named(self, key: str) -> tuple[PhysicalDevice, ...]:
        """The devices that a profile means by a key: ``cpu`` is the processor of every node."""
        return tuple(device for device in self.devices if key in (device.key, device.key_on_node))

    def instances_of(self, key: str) -> tuple[PhysicalDevice, ...]:
        """The MIG instances of a GPU."""
        return tuple(device for device in self.devices if device.parent_key == key)
