"""GPUs in MIG mode: only their instances compute, and a process sees one of them.

"Only enumeration of a single MIG instance is supported" (NVIDIA Multi-Instance GPU User Guide,
"CUDA visible devices"): of several that ``CUDA_VISIBLE_DEVICES`` names, CUDA takes the first.
"""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import isolated


def partitioned_gpus(context: PlanningContext) -> Iterator[Problem]:
    """GPUs in MIG mode that the profile names: they cannot compute themselves."""
    for key in dict.fromkeys(context.profile.devices.visible):
        gpu = context.inventory.device(key)
        if gpu is not None and gpu.is_partitioned:
            yield _partitioned(context.profile, context.inventory, gpu)


def instance_not_alone(context: PlanningContext) -> Iterator[Problem]:
    """A MIG instance that shares its process with another GPU, or with another instance."""
    shared = [
        group
        for group in context.gpu_groups
        if len(group) > 1 and any(gpu.is_mig_instance for gpu in group)
    ]
    if context.profile.strategy.kind is StrategyKind.ONE_DEVICE or not shared:
        return
    biggest = max(context.gpus, key=lambda gpu: gpu.memory_total_mib or 0)
    alone = Fix.of(f"Use {biggest.name} only", "devices.visible", [biggest.key])
    apart = isolated(context.profile, context.gpus)
    yield Problem(
        code="mig_instance_not_alone",
        field="devices.visible",
        message="CUDA shows a process one MIG instance and nothing else, but "
        f"{len(shared[0])} devices are to share one.",
        hint="Give each a process of its own, or use one of them.",
        fix=apart or alone,
        alternatives=() if apart is None else (alone,),
    )


def _partitioned(profile: Profile, inventory: DeviceInventory, gpu: PhysicalDevice) -> Problem:
    instances = [instance.key for instance in inventory.instances_of(gpu.key)]
    remaining = [key for key in profile.devices.visible if key not in (gpu.key, *instances)]
    keys = [*remaining, *instances] or [CPU_KEY]
    if instances:
        hint, label = "Choose its instances instead.", "Use its instances"
    else:
        hint = "Make an instance (nvidia-smi mig -cgi ... -C), or turn MIG mode off."
        label = "Use the others" if remaining else "Use the CPU"
    return Problem(
        code="gpu_partitioned",
        field="devices.visible",
        message=f"{gpu.name} is in MIG mode: only its instances can compute.",
        hint=hint,
        fix=Fix.of(label, "devices.visible", keys),
    )
