"""Which GPUs of this machine are the nearest to those that a profile names and it lacks."""

from functools import partial

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import LimitedMemory, SplitMemory
from gpupanel.domain.profile import Profile
from gpupanel.planning.rules.memory_size_rules import wanted_mib


def nearest_gpus(
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
    too_small = isinstance(policy, LimitedMemory | SplitMemory) and wanted_mib(policy) > total
    if known is None:
        return too_small, False, 0
    return too_small, gpu.name != known.name, abs(total - (known.memory_total_mib or total))
