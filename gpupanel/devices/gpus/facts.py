"""What does not change about a GPU or a MIG instance, fetched when it is listed."""

from gpupanel.devices.nvml import NvmlGpu
from gpupanel.domain.device import DeviceKind, PhysicalDevice


def gpu_facts(key: str, nvml: NvmlGpu) -> PhysicalDevice:
    """The facts of a whole GPU; each that it does not tell is ``None``.

    Raises:
        GpuLostError: It stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    memory = nvml.memory()
    return PhysicalDevice(
        key=key,
        kind=DeviceKind.GPU,
        name=nvml.name() or "NVIDIA GPU",
        memory_total_mib=None if memory is None else memory.total_mib,
        architecture=nvml.architecture(),
        compute_capability=nvml.compute_capability(),
        pci_bus_id=nvml.pci_bus_id(),
        power_limit_w=nvml.power_limit_w(),
        temperature_slowdown_c=nvml.temperature_slowdown_c(),
        temperature_shutdown_c=nvml.temperature_shutdown_c(),
        pcie_generation_max=nvml.pcie_generation_max(),
        pcie_width_max=nvml.pcie_width_max(),
    )


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
