"""Which GPUs ``CUDA_VISIBLE_DEVICES`` leaves, read as CUDA reads it.

People who share a machine agree by it ("you take card 1"), and batch systems say by it which GPUs
of a node belong to a job.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from gpupanel.domain.cuda_variables import FASTEST_FIRST, PCI_BUS_ORDER, CudaVariables
from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import as_utf8

VISIBLE_DEVICES_VARIABLE: Final = "CUDA_VISIBLE_DEVICES"
DEVICE_ORDER_VARIABLE: Final = "CUDA_DEVICE_ORDER"

_SLURM_JOB: Final = "SLURM_JOB_ID"
_SLURM_GPUS: Final = ("SLURM_GPUS_ON_NODE", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS")
_MOST_DIGITS: Final = 4
"""A number of more digits than any machine has GPUs names none, however long it is."""


class VisibleGpus(Value):
    """What the variable leaves.

    Attributes:
        gpus: In its order.
        wrong_entry: The first entry that names no GPU: CUDA reads no further; or one that stands
            there twice. Empty where there is none.
        is_repeated: Whether it is that one stands there twice, and so none is left.
        is_sure: Whether its numbers mean the same GPUs in every order that CUDA may count them in.
    """

    gpus: tuple[PhysicalDevice, ...]
    wrong_entry: str = ""
    is_repeated: bool = False
    is_sure: bool = True


def cuda_variables_of(environment: Mapping[str, str]) -> CudaVariables:
    """The variables as they are meant in a shell or in a job.

    Slurm does not set ``CUDA_VISIBLE_DEVICES`` for a job that asked for no GPU, and takes away one
    that was set before (seen with 22.05): such a job has none, and those of its node may be other
    people's. It counts the GPUs of a node in the order of the PCI bus.

    Args:
        environment: The variables of this process.
    """
    visible = environment.get(VISIBLE_DEVICES_VARIABLE)
    if visible is not None:
        visible = as_utf8(visible)
    if _SLURM_JOB not in environment:
        order = as_utf8(environment.get(DEVICE_ORDER_VARIABLE, ""))
        return CudaVariables(visible_devices=visible, device_order=order)
    has_none = visible is None and not any(environment.get(name) for name in _SLURM_GPUS)
    return CudaVariables(
        visible_devices="" if has_none else visible,
        device_order=PCI_BUS_ORDER,
        job_has_none=has_none,
    )


def variables_of_plan(plan: LaunchPlan) -> CudaVariables:
    """What leaves the GPUs of a plan, so that its run means no others later than at its start."""
    keys = [device.key for device in plan.devices if device.kind is DeviceKind.GPU]
    return CudaVariables(visible_devices=",".join(keys))


def default_gpus(inventory: DeviceInventory) -> tuple[PhysicalDevice, ...]:
    """The GPUs that are meant where nobody names any: those that the shell leaves, or all."""
    visible = visible_gpus(inventory)
    return inventory.gpus if visible is None else visible.gpus


def visible_gpus(inventory: DeviceInventory) -> VisibleGpus | None:
    """What the shell leaves of the GPUs; ``None`` where it leaves them all by saying nothing."""
    variables = inventory.cuda_variables
    if variables is None or variables.visible_devices is None:
        return None
    return named_gpus(inventory, variables.visible_devices, variables.device_order)


def named_gpus(inventory: DeviceInventory, visible_devices: str, device_order: str) -> VisibleGpus:
    """The GPUs that a value of ``CUDA_VISIBLE_DEVICES`` names.

    Read as CUDA does (CUDA C++ Programming Guide, "CUDA Environment Variables"): whole GPUs by
    their number or the beginning of their UUID, MIG instances by their UUID, up to the first entry
    that names none. The number of a GPU in MIG mode means its first instance. The guide says
    nothing of an entry that names a GPU for the second time: programs get no GPU at all then, as
    ``_parse_visible_devices`` of PyTorch's ``torch/cuda/__init__.py`` knows ("Repeated ordinal
    results in empty set").

    Numbers count in the order of the PCI bus, also where ``CUDA_DEVICE_ORDER`` is not set: that is
    what ``nvidia-smi`` shows and people agree on. CUDA takes the fastest for 0 then. How it finds
    that is not published, so both are known to mean the same only where the PCI bus has the GPUs
    by capability and memory, none behind a lesser one. Asked for the fastest first, they are
    counted like that.

    Args:
        inventory: The devices of this machine.
        visible_devices: The variable's value.
        device_order: The value of ``CUDA_DEVICE_ORDER``; empty: it is not set.
    """
    whole = [device for device in inventory.devices if device.is_gpu and not device.is_mig_instance]
    if device_order == FASTEST_FIRST:
        whole.sort(key=_rank, reverse=True)
    named: list[PhysicalDevice] = []
    has_numbers, wrong, is_repeated = False, "", False
    for entry in (each.strip() for each in visible_devices.split(",")):
        is_number = entry.isdecimal() and entry.isascii()
        gpu = _numbered(inventory, whole, entry) if is_number else _by_uuid(inventory, entry)
        if gpu is None or gpu in named:
            wrong, is_repeated = entry, gpu is not None
            break
        has_numbers |= is_number
        named.append(gpu)
    if is_repeated:
        named, has_numbers = [], False
    # Where all are named the order alone is not sure, and it decides which one trains alone.
    is_sure = not has_numbers or device_order == PCI_BUS_ORDER or _is_by_speed(whole)
    return VisibleGpus(
        gpus=tuple(named), wrong_entry=wrong, is_repeated=is_repeated, is_sure=is_sure
    )


def _numbered(
    inventory: DeviceInventory, whole: list[PhysicalDevice], entry: str
) -> PhysicalDevice | None:
    if len(entry) > _MOST_DIGITS or int(entry) >= len(whole):
        return None
    gpu = whole[int(entry)]
    return next(iter(inventory.instances_of(gpu.key)), None) if gpu.is_partitioned else gpu


def _by_uuid(inventory: DeviceInventory, entry: str) -> PhysicalDevice | None:
    if not entry.startswith(("GPU-", "MIG-")):
        return None
    named = [device for device in inventory.devices if device.key.startswith(entry)]
    return named[0] if len(named) == 1 else None


def _is_by_speed(gpus: list[PhysicalDevice]) -> bool:
    """Whether none of them could be called faster than the one before it."""
    ranks = [_rank(gpu) for gpu in gpus]
    return all(one[0] >= other[0] and one[1] >= other[1] for one, other in pairwise(ranks))


def _rank(gpu: PhysicalDevice) -> tuple[tuple[int, int], int]:
    return gpu.compute_capability or (0, 0), gpu.memory_total_mib or 0
