"""Makes the acquaintance of a GPU and of its MIG instances."""

import logging

from gpupanel.devices.gpus.facts import gpu_facts, instance_facts
from gpupanel.devices.gpus.known_gpus import KnownGpu, KnownGpus
from gpupanel.devices.nvml import NvmlGpu

_LOG = logging.getLogger(__name__)


def introduce(nvml: NvmlGpu, gpus: KnownGpus, opening: int, driver: str | None) -> None:
    """Add a GPU with its instances, unless it is there and answers.

    Facts that the same driver told before are not asked for again: a slow GPU takes seconds.

    Args:
        nvml: The GPU as NVML lists it.
        gpus: The GPUs seen so far.
        opening: The opening of the driver in which it was listed.
        driver: The driver's version.

    Raises:
        GpuLostError: It stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    key = nvml.uuid()
    if key is None:
        # Without an identity nothing can be chosen or remembered about it.
        _LOG.debug("A GPU is left out, since the driver does not report its UUID")
        return
    known = gpus.get(key)
    if known is not None and known.nvml is not None:
        return
    if known is None or known.driver != driver or known.device.memory_total_mib is None:
        device = gpu_facts(key, nvml)
    else:
        # It may be in another slot now.
        device = known.device.model_copy(update={"pci_bus_id": nvml.pci_bus_id()})
    gpu = KnownGpu(device, nvml, driver)
    if gpus.put(gpu, opening):
        see_instances(gpu, gpus, opening)


def see_instances(gpu: KnownGpu, gpus: KnownGpus, opening: int) -> None:
    """See whether a GPU is in MIG mode now, and which instances it has.

    Raises:
        GpuLostError: It stopped answering.
        DriverGoneError: The driver stopped answering.
    """
    nvml = gpu.nvml
    if nvml is None:
        return
    is_partitioned = nvml.is_partitioned()
    instances = _instances(nvml) if is_partitioned else {}
    if is_partitioned is None or instances is None:
        return  # It has no MIG mode, or errs this time: what is known stays.
    if is_partitioned != gpu.device.is_partitioned:
        gpu.device = gpu.device.model_copy(update={"is_partitioned": is_partitioned})
    for key, instance in instances.items():
        known = gpus.get(key)
        if known is None or known.nvml is None:
            device = instance_facts(key, instance, gpu.device)
            gpus.put(KnownGpu(device, instance, gpu.driver), opening)
    gpus.keep_instances(gpu.device.key, instances)


def _instances(nvml: NvmlGpu) -> dict[str, NvmlGpu] | None:
    """The instances by their UUID; ``None`` unless all of them tell it."""
    instances = nvml.mig_instances()
    if instances is None:
        return None
    found = {key: each for each in instances if (key := each.uuid()) is not None}
    return found if len(found) == len(instances) else None
