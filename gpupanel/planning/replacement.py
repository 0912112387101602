"""The same run on the devices that are here, for a profile that names others."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import logical_device_count
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, SHARING_KINDS, StrategyKind
from gpupanel.planning.nearest_gpus import nearest_gpus


def same_on_what_is_here(
    profile: Profile, inventory: DeviceInventory, absent: tuple[str, ...]
) -> Fix:
    """Put the nearest devices in the places of absent ones, with their memory policies.

    Where no GPU is left the CPU stands in, with a logical device for each that the profile means:
    as many replicas, with the same shares. Where fewer devices are left than there were, shares
    that were given replica by replica become equal ones.
    """
    present = tuple(key for key in profile.devices.visible if key not in absent)
    unused = tuple(gpu for gpu in inventory.gpus if gpu.key not in present)
    nearest = nearest_gpus(profile, absent, unused)
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
    elif here != wanted and profile.strategy.kind in SHARING_KINDS:
        changes.append(Change(path=("strategy", "shares"), value="equal"))
    names = [inventory.device(key) for key in kept or (CPU_KEY,)]
    label = ", ".join(device.name for device in names if device is not None)
    return Fix(label=f"Use {label or 'the CPU'}", changes=tuple(changes))
