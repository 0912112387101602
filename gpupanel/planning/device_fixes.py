"""Fixes that let the same session run on other devices, or each GPU in a process of its own."""

from collections.abc import Container
from functools import partial

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.device_names import make
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    LimitedMemory,
    SplitMemory,
    gives_out_whole,
    logical_device_count,
)
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import (
    GANG_KINDS,
    AllReduce,
    OptimizerState,
    StrategyKind,
)
from gpupanel.planning.visible_gpus import default_gpus


def on_the_cpu(profile: Profile, gpus: tuple[str, ...]) -> Fix:
    """Let the CPU stand in for all chosen GPUs, with a logical device for each that they made.

    So replicas and shares stay as they are. What only GPUs have is taken out: memory policies,
    and NCCL.

    Args:
        profile: What the person chose.
        gpus: The keys of the chosen GPUs.
    """
    logical = sum(logical_device_count(profile.memory_policy(key)) for key in gpus)
    kind = profile.strategy.kind
    several = kind is not StrategyKind.ONE_DEVICE
    changes = [
        Change(path=("devices", "visible"), value=[CPU_KEY]),
        Change(path=("devices", "cpu_replicas"), value=logical if several else 1),
        *(Change(path=("memory", key)) for key in gpus if key in profile.memory),
    ]
    if isinstance(profile.memory.get(DEFAULT_MEMORY_KEY), LimitedMemory | SplitMemory):
        changes.append(Change(path=("memory", DEFAULT_MEMORY_KEY)))
    if kind in GANG_KINDS and profile.strategy.workers is None:
        changes.append(Change(path=("strategy", "workers"), value=logical))
    if profile.strategy.all_reduce is AllReduce.NCCL:
        auto = AllReduce.AUTO.value
        changes.append(Change(path=("strategy", "all_reduce"), value=auto))
    label = "Train on the CPU" if profile.task == "train" else "Use the CPU"
    return Fix(label=label, changes=tuple(changes))


def isolated(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> Fix | None:
    """The same run with a worker for each GPU; ``None`` where that is not possible.

    Evaluating and predicting need no strategy of several processes; TensorFlow wants equally many
    logical devices in every worker.
    """
    counts = {logical_device_count(profile.memory_policy(gpu.key)) for gpu in gpus}
    if profile.task != "train" or len(gpus) < 2 or len(counts) > 1:
        return None
    changes = [
        Change(path=("strategy", "kind"), value=StrategyKind.MULTI_WORKER.value),
        Change(path=("strategy", "workers"), value=len(gpus)),
    ]
    if profile.strategy.all_reduce is not AllReduce.AUTO:
        changes.append(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value))
    if profile.strategy.placement is not None:
        changes.append(Change(path=("strategy", "placement")))
    return Fix(label="Give each GPU a process of its own", changes=tuple(changes))


def on_other_gpus_here(
    profile: Profile, inventory: DeviceInventory, unusable: tuple[str, ...], usable: Container[str]
) -> Fix | None:
    """Put other GPUs of this machine in the places of named ones that cannot be used.

    Args:
        profile: What the person chose.
        inventory: The devices of this machine.
        unusable: The keys of all GPUs that it names.
        usable: The keys of GPUs that can be used.

    Returns:
        ``None`` where there is no other one, or the profile names none: then all are meant.
    """
    others = tuple(gpu for gpu in default_gpus(inventory) if gpu.key in usable)
    if not profile.devices.visible or not others:
        return None
    only_them = inventory.model_copy(update={"devices": others, "cuda_variables": None})
    return same_on_what_is_here(profile, only_them, unusable)


def same_on_what_is_here(
    profile: Profile, inventory: DeviceInventory, absent: tuple[str, ...]
) -> Fix:
    """Put the nearest devices in the places of absent ones, with their memory policies.

    Where no GPU is left the CPU stands in, with a logical device for each that the profile means:
    as many replicas, with the same shares. Where fewer devices are left than there were, shares
    that were given replica by replica become equal ones, and quotas follow the free memory.
    """
    present = tuple(key for key in profile.devices.visible if key not in absent)
    # Others than the shell leaves may be somebody else's.
    unused = tuple(gpu for gpu in default_gpus(inventory) if gpu.key not in present)
    nearest = _nearest_gpus(profile, absent, unused)
    replacing = {key: gpu.key for key, gpu in nearest.items()}
    kept = tuple(
        replacing.get(key, key)
        for key in profile.devices.visible
        if key in present or key in replacing
    )
    changes = [Change(path=("devices", "visible"), value=list(kept or (CPU_KEY,)))]
    for key, other in replacing.items():
        policy = profile.memory.get(key)
        if policy is not None:
            changes += [
                Change(path=("memory", key)),
                Change(path=("memory", other), value=policy.model_dump(mode="json")),
            ]
    wanted = sum(
        logical_device_count(profile.memory_policy(key)) for key in profile.devices.visible
    )
    here = sum(
        logical_device_count(profile.memory_policy(key))
        for key in profile.devices.visible
        if key in present
    )
    here += sum(logical_device_count(profile.memory_policy(key)) for key in replacing)
    if not kept:
        changes += [Change(path=("memory", key)) for key in absent if key in profile.memory]
        several = profile.strategy.kind is not StrategyKind.ONE_DEVICE
        changes.append(Change(path=("devices", "cpu_replicas"), value=wanted if several else 1))
        if profile.strategy.kind in GANG_KINDS and profile.strategy.workers is None:
            changes.append(Change(path=("strategy", "workers"), value=wanted))
    elif here != wanted and profile.strategy.divides_batches:
        changes.append(Change(path=("strategy", "shares"), value="equal"))
        if isinstance(profile.strategy.optimizer_state, tuple):
            sharded = OptimizerState.SHARDED.value
            changes.append(Change(path=("strategy", "optimizer_state"), value=sharded))
    names = [inventory.device(key) for key in kept or (CPU_KEY,)]
    label = ", ".join(device.name for device in names if device is not None)
    return Fix(label=f"Use {label or 'the CPU'}", changes=tuple(changes))


def _nearest_gpus(
    profile: Profile, absent: tuple[str, ...], unused: tuple[PhysicalDevice, ...]
) -> dict[str, PhysicalDevice]:
    """A GPU for each absent key, as far as there are any: each is taken once.

    The nearest has room for the memory policy, then the same name, then memory as much as the one
    that the profile describes. Of a GPU without a description only the policy is known: then the
    first that has room.
    """
    nearest = {}
    left = list(unused)
    for key in absent[: len(unused)]:
        nearest[key] = min(left, key=partial(_distance, profile, key))
        left.remove(nearest[key])
    return nearest


def _distance(profile: Profile, key: str, gpu: PhysicalDevice) -> tuple[bool, bool, int]:
    """Whether the policy does not fit, whether the name differs, how much the memory differs."""
    policy, known = profile.memory_policy(key), profile.devices.described.get(key)
    total = gpu.memory_total_mib or 0
    too_small = isinstance(policy, LimitedMemory | SplitMemory) and not gives_out_whole(
        total, policy
    )
    if known is None:
        return too_small, False, 0
    return (
        too_small,
        make(gpu.name) != make(known.name),
        abs(total - (known.memory_total_mib or total)),
    )
