"""The same session on the CPU, for one whose GPUs cannot be used."""

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    LimitedMemory,
    SplitMemory,
    logical_device_count,
)
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, AllReduce, StrategyKind


def on_the_cpu(profile: Profile, gpus: tuple[str, ...], label: str = "Use the CPU") -> Fix:
    """Let the CPU stand in for all chosen GPUs, with a logical device for each that they made.

    So replicas and shares stay as they are. What only GPUs have is taken out: memory policies,
    and NCCL.

    Args:
        profile: What the person chose.
        gpus: The keys of the chosen GPUs.
        label: What the button says.
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
    return Fix(label=label, changes=tuple(changes))
