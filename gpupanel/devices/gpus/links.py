"""How the GPUs of this machine are connected, pair by pair."""

from collections.abc import Sequence
from itertools import combinations

from gpupanel.devices.nvml import GpuLostError, NvLinks, NvmlGpu
from gpupanel.domain.device import DeviceLink, LinkKind, PhysicalDevice
from gpupanel.domain.pci import is_same_pci_device

_NO_NVLINKS = NvLinks({}, 0)


def gpu_links(gpus: Sequence[tuple[PhysicalDevice, NvmlGpu]]) -> tuple[DeviceLink, ...]:
    """A link for each pair of whole GPUs of which the driver tells how they are connected.

    Raises:
        DriverGoneError: The driver stopped answering.
    """
    nvlinks = [_nvlinks(nvml) for _, nvml in gpus]
    links = []
    for (place, (one, one_nvml)), (other_place, (other, other_nvml)) in combinations(
        enumerate(gpus), 2
    ):
        straight = _straight(nvlinks[place], other) or _straight(nvlinks[other_place], one)
        switched = min(nvlinks[place].to_switches, nvlinks[other_place].to_switches)
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
