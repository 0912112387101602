"""Readings that take several calls of NVML: MIG instances, NVLinks, retired pages.

Each raises :class:`pynvml.NVMLError` or, for an answer that cannot be true, :class:`ValueError`.
"""

import time
from collections import Counter
from typing import Final

import pynvml

from gpupanel.devices.nvml.answers import bus_id, within
from gpupanel.devices.nvml.failures import is_final, raise_if_not_of_one_reading
from gpupanel.devices.nvml.values import NvLinks

_RECENT_S: Final = 2.0

# No instance at that place, or none for this user.
_NO_INSTANCE: Final = frozenset(
    {
        pynvml.NVML_ERROR_NOT_FOUND,
        pynvml.NVML_ERROR_INVALID_ARGUMENT,
        pynvml.NVML_ERROR_NO_PERMISSION,
    }
)


def retired_pages(handle: object) -> int:
    """Pages taken out of use for good, for either cause; before Ampere."""
    causes = range(pynvml.NVML_PAGE_RETIREMENT_CAUSE_COUNT)
    return sum(len(pynvml.nvmlDeviceGetRetiredPages(handle, cause)) for cause in causes)


def process_utilization(handle: object) -> dict[int, int]:
    """Percent of the last sample period in which each process's kernels ran, by pid.

    A process that did not use the GPU in the last two seconds is not there.
    """
    # Samples have the host's time (nvml.h, nvmlProcessUtilizationSample_t). A period is 1/6 s to
    # 1 s long, so that there is one in that time.
    since_us = int((time.time() - _RECENT_S) * 1e6)
    try:
        samples = pynvml.nvmlDeviceGetProcessUtilization(handle, since_us)
    except pynvml.NVMLError as error:
        # Nobody used it; or success with no samples at all, which the module takes for an error.
        if error.value in (pynvml.NVML_ERROR_NOT_FOUND, pynvml.NVML_SUCCESS):
            return {}
        raise
    latest = sorted(samples, key=lambda sample: int(sample.timeStamp))
    return {int(sample.pid): int(sample.smUtil) for sample in latest}


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
                gpus[bus_id(pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link))] += 1
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
        # Drivers before 465 do not say.
        raise_if_not_of_one_reading(error)
        return False
    return bool(kind == pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH)
