"""GPUs in MIG mode: only their instances compute, and a process sees one of them.

"Only enumeration of a single MIG instance is supported" (NVIDIA Multi-Instance GPU User Guide,
"CUDA visible devices"): of several that ``CUDA_VISIBLE_DEVICES`` names, CUDA takes the first.
"""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, AllReduce, StrategyKind
from gpupanel.planning.isolation import isolated
from gpupanel.planning.workers import device_groups


def partitioned_gpus(profile: Profile, inventory: DeviceInventory) -> list[Problem]:
    """GPUs in MIG mode that the profile names: they cannot compute themselves."""
    named = (inventory.device(key) for key in dict.fromkeys(profile.devices.visible))
    return [
        _partitioned(profile, inventory, gpu)
        for gpu in named
        if gpu is not None and gpu.is_partitioned
    ]


def instance_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """A MIG instance that shares its process with another GPU, or with another instance."""
    gpus = tuple(device for device in devices if device.is_gpu)
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        return []
    groups = device_groups(profile, gpus) if profile.strategy.kind in GANG_KINDS else (gpus,)
    shared = [
        group for group in groups if len(group) > 1 and any(gpu.is_mig_instance for gpu in group)
    ]
    if not shared:
        return []
    biggest = max(gpus, key=lambda gpu: gpu.memory_total_mib or 0)
    alone = Fix(
        label=f"Use {biggest.name} only",
        changes=(Change(path=("devices", "visible"), value=[biggest.key]),),
    )
    apart = isolated(profile, gpus)
    return [
        Problem(
            code="mig_instance_not_alone",
            field="devices.visible",
            message="CUDA shows a process one MIG instance and nothing else, but "
            f"{len(shared[0])} devices are to share one.",
            hint="Give each a process of its own, or use one of them.",
            fix=apart or alone,
            alternatives=() if apart is None else (alone,),
        )
    ]


def nccl_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """NCCL between MIG instances: it wants one rank a GPU, and they are parts of one."""
    strategy = profile.strategy
    instances = [device for device in devices if device.is_mig_instance]
    if strategy.kind is not StrategyKind.MULTI_WORKER or strategy.all_reduce is not AllReduce.NCCL:
        return []
    if len({instance.parent_key for instance in instances}) == len(instances):
        return []
    return [
        Problem(
            code="nccl_with_mig",
            field="strategy.all_reduce",
            message="NCCL cannot sum over several MIG instances of one GPU "
            f"({', '.join(instance.name for instance in instances)}).",
            hint="Let the strategy choose: workers sum over a ring then.",
            fix=Fix(
                label="Choose automatically",
                changes=(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value),),
            ),
        )
    ]


def _partitioned(profile: Profile, inventory: DeviceInventory, gpu: PhysicalDevice) -> Problem:
    instances = [instance.key for instance in inventory.instances_of(gpu.key)]
    others = [key for key in profile.devices.visible if key not in (gpu.key, *instances)]
    keys = [*others, *instances] or [CPU_KEY]
    if instances:
        hint, label = "Choose its instances instead.", "Use its instances"
    else:
        hint = "Make an instance (nvidia-smi mig -cgi ... -C), or turn MIG mode off."
        label = "Use the others" if others else "Use the CPU"
    return Problem(
        code="gpu_partitioned",
        field="devices.visible",
        message=f"{gpu.name} is in MIG mode: only its instances can compute.",
        hint=hint,
        fix=Fix(label=label, changes=(Change(path=("devices", "visible"), value=keys),)),
    )
