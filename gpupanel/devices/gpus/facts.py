"""What does not change about GPUs and MIG instances, and how they are connected."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from gpupanel.devices.nvml import GpuLostError, NvLinks, NvmlGpu
from gpupanel.domain.device import DeviceKind, DeviceLink, LinkKind, PhysicalDevice, UnresponsiveGpu
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.pci import is_same_pci_device

_NO_NVLINKS = NvLinks({}, 0)


@dataclass(slots=True, eq=False)
class KnownGpu:
    """A GPU, or a MIG instance of one, that was seen since the start.

    Attributes:
        device: What does not change about it, fetched once for each time it was listed.
        nvml: The way to its readings; ``None`` while it is not listed.
        driver: Version of the driver that reported the facts.
        failure: Why it is not listed; ``None`` while it is, or where the driver itself went away.
    """

    device: PhysicalDevice
    nvml: NvmlGpu | None
    driver: str | None
    failure: GpuFailure | None = None


def gpu_facts(key: str, nvml: NvmlGpu, before: PhysicalDevice | None = None) -> PhysicalDevice:
    """The facts of a whole GPU; each that it does not report is ``None``.

    Args:
        key: Its UUID.
        nvml: The way to its readings.
        before: What it reported before, which is taken but for the slot: it may be in another now.

    Raises:
        GpuLostError: It stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    if before is not None and before.memory_total_mib is not None:
        return before.model_copy(update={"pci_bus_id": nvml.pci_bus_id()})
    memory = nvml.memory()
    least_w, most_w = nvml.power_limit_range_w() or (None, None)
    return PhysicalDevice(
        key=key,
        kind=DeviceKind.GPU,
        name=nvml.name() or "NVIDIA GPU",
        memory_total_mib=None if memory is None else memory.total_mib,
        architecture=nvml.architecture(),
        compute_capability=nvml.compute_capability(),
        pci_bus_id=nvml.pci_bus_id(),
        power_limit_w=nvml.power_limit_w(),
        power_limit_default_w=nvml.power_limit_default_w(),
        power_limit_least_w=least_w,
        power_limit_most_w=most_w,
        temperature_slowdown_c=nvml.temperature_slowdown_c(),
        temperature_shutdown_c=nvml.temperature_shutdown_c(),
        pcie_generation_max=nvml.pcie_generation_max(),
        pcie_width_max=nvml.pcie_width_max(),
    )


def sleeping_facts(gpu: UnresponsiveGpu) -> PhysicalDevice | None:
    """The facts of a GPU that sleeps, by the kernel's word; ``None``: its UUID is not known."""
    if gpu.key is None:
        return None
    name = gpu.name or "NVIDIA GPU"
    return PhysicalDevice(key=gpu.key, kind=DeviceKind.GPU, name=name, pci_bus_id=gpu.pci_bus_id)


def instance_facts(key: str, nvml: NvmlGpu, parent: PhysicalDevice) -> PhysicalDevice:
    """The facts of a MIG instance: its own memory and name, the rest as its GPU has it.

    Limits that hold for the whole board (power, temperature, PCI Express) are the GPU's alone.

    Raises:
        GpuLostError: Its GPU stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    memory = nvml.memory()
    return PhysicalDevice(
        key=key,
        kind=DeviceKind.GPU,
        name=nvml.name() or f"Instance of {parent.name}",
        memory_total_mib=None if memory is None else memory.total_mib,
        architecture=parent.architecture,
        compute_capability=parent.compute_capability,
        pci_bus_id=parent.pci_bus_id,
        parent_key=parent.key,
    )


def mig_instances(nvml: NvmlGpu) -> dict[str, NvmlGpu] | None:
    """The instances of a GPU in MIG mode by their UUID; ``None`` unless all of them report it.

    Raises:
        GpuLostError: The GPU stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    instances = nvml.mig_instances()
    if instances is None:
        return None
    found = {key: each for each in instances if (key := each.uuid()) is not None}
    return found if len(found) == len(instances) else None


def gpu_links(gpus: Sequence[tuple[PhysicalDevice, NvmlGpu]]) -> tuple[DeviceLink, ...]:
    """A link for each pair of whole GPUs of which the driver reports how they are connected.

    Raises:
        DriverGoneError: The driver stopped answering.
    """
    nvlinks = {device.key: _nvlinks(nvml) for device, nvml in gpus}
    links = []
    for (one, one_nvml), (other, other_nvml) in combinations(gpus, 2):
        straight = _straight(nvlinks[one.key], other) or _straight(nvlinks[other.key], one)
        switched = min(nvlinks[one.key].to_switches, nvlinks[other.key].to_switches)
        try:
            # Behind two NVSwitches there can be two fabrics: the driver knows.
            if not straight and switched and not one_nvml.is_on_nvlink_with(other_nvml):
                switched = 0
            count = straight or switched
            kind = LinkKind.NVLINK if count else one_nvml.common_ancestor(other_nvml)
        except GpuLostError:
            continue
        if kind is not None:
            links.append(DeviceLink(keys=(one.key, other.key), kind=kind, nvlink_count=count))
    return tuple(links)


def _nvlinks(nvml: NvmlGpu) -> NvLinks:
    try:
        return nvml.nvlinks() or _NO_NVLINKS
    except GpuLostError:
        return _NO_NVLINKS


def _straight(nvlinks: NvLinks, other: PhysicalDevice) -> int:
    """How many NVLink connections lead straight to another GPU."""
    return sum(
        count
        for bus_id, count in nvlinks.to_gpus.items()
        if is_same_pci_device(bus_id, other.pci_bus_id)
    )
