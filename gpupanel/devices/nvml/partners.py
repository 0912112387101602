"""Questions to NVML about a GPU's parts and its connections: MIG instances, NVLinks, topology.

Each raises :class:`pynvml.NVMLError` or, for an answer that cannot be true, :class:`ValueError`.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

import pynvml

from gpupanel.devices.nvml.failures import is_final, raise_if_not_of_one_reading
from gpupanel.devices.nvml.questions import text
from gpupanel.devices.nvml.values import GarbageError, NvLinks, within
from gpupanel.domain.device import LinkKind

_ANCESTORS: Final = {
    pynvml.NVML_TOPOLOGY_INTERNAL: LinkKind.SAME_BOARD,
    pynvml.NVML_TOPOLOGY_SINGLE: LinkKind.PCIE_SWITCH,
    pynvml.NVML_TOPOLOGY_MULTIPLE: LinkKind.PCIE_SWITCHES,
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: LinkKind.HOST_BRIDGE,
    pynvml.NVML_TOPOLOGY_NODE: LinkKind.NUMA_NODE,
    pynvml.NVML_TOPOLOGY_SYSTEM: LinkKind.SYSTEM,
}

# No instance at that place, or none for this user.
_NO_INSTANCE: Final = frozenset(
    {
        pynvml.NVML_ERROR_NOT_FOUND,
        pynvml.NVML_ERROR_INVALID_ARGUMENT,
        pynvml.NVML_ERROR_NO_PERMISSION,
    }
)


def is_in_mig_mode(handle: object) -> bool:
    """Whether the GPU is in MIG mode now."""
    current, _pending = pynvml.nvmlDeviceGetMigMode(handle)
    return bool(current == pynvml.NVML_DEVICE_MIG_ENABLE)


def mig_instances(handle: object) -> list[object]:
    """The handles of a GPU's MIG instances; places without one are left out."""
    found: list[object] = []
    for index in range(within(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle), 0, 64)):
        try:
            found.append(pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index))
        except pynvml.NVMLError as error:
            # Instances have no fixed places.
            if error.value not in _NO_INSTANCE:
                raise
    return found


def common_ancestor(other: object) -> Callable[[object], LinkKind]:
    """The question for the nearest thing that two GPUs have in common."""

    def ask(handle: object) -> LinkKind:
        level = pynvml.nvmlDeviceGetTopologyCommonAncestor(handle, other)
        if level not in _ANCESTORS:
            raise GarbageError(f"topology level {level} is not known here")
        return _ANCESTORS[level]

    return ask


def is_on_nvlink_with(other: object) -> Callable[[object], bool]:
    """The question whether a GPU can read another's memory over NVLink."""

    def ask(handle: object) -> bool:
        index = pynvml.NVML_P2P_CAPS_INDEX_NVLINK
        status = pynvml.nvmlDeviceGetP2PStatus(handle, other, index)
        return bool(status == pynvml.NVML_P2P_STATUS_OK)

    return ask


def nvlinks(handle: object) -> NvLinks:
    """The NVLink connections that are up, by what is at their other end."""
    gpus: Counter[str] = Counter()
    to_switches = 0
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        try:
            if not pynvml.nvmlDeviceGetNvLinkState(handle, link):
                continue
            if _leads_to_a_switch(handle, link):
                to_switches += 1
            else:
                gpus[text(pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link).busId)] += 1
        except pynvml.NVMLError as error:
            if link == 0 and is_final(error):
                raise
            if error.value == pynvml.NVML_ERROR_INVALID_ARGUMENT:
                break  # There are no more.
            raise_if_not_of_one_reading(error)
    return NvLinks(dict(gpus), to_switches)


def _leads_to_a_switch(handle: object, link: int) -> bool:
    try:
        kind = pynvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, link)
    except pynvml.NVMLError as error:
        # Drivers before 465 do not tell.
        raise_if_not_of_one_reading(error)
        return False
    return bool(kind == pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH)
