"""How many processes a run has, and which of the chosen devices each of them gets."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind

_CPU_WORKERS = 2


def worker_count(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> int:
    """Worker processes: as many as the profile says, else one a GPU, else two on the CPU."""
    if profile.strategy.workers is not None:
        return profile.strategy.workers
    gpus = sum(device.is_gpu for device in devices)
    return gpus or max(_CPU_WORKERS, profile.devices.cpu_replicas)


def parameter_server_count(profile: Profile) -> int:
    """Parameter-server processes."""
    return profile.strategy.parameter_servers or 1


def device_groups(
    profile: Profile, devices: tuple[PhysicalDevice, ...]
) -> tuple[tuple[PhysicalDevice, ...], ...]:
    """The devices that each worker sees: equally many GPUs, or the CPU for each.

    Where they cannot be divided so, the groups are as even as they can be;
    ``rules/worker_rules.py`` says why.
    """
    count = worker_count(profile, devices)
    gpus = tuple(device for device in devices if device.is_gpu)
    if not gpus:
        return (devices,) * count
    count = min(count, len(gpus))
    each = 1 if profile.strategy.kind is StrategyKind.PARAMETER_SERVER else len(gpus) // count
    return tuple(gpus[each * index : each * (index + 1)] for index in range(count))
