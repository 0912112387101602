"""Memory growth: TensorFlow knows it for all GPUs of one process, or for none."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import (
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS
from gpupanel.planning.isolation import isolated
from gpupanel.planning.workers import device_groups


def grows(policy: MemoryPolicy) -> bool:
    """Whether TensorFlow's allocator starts small and grows under that policy."""
    return isinstance(policy, GrowingMemory) or (
        isinstance(policy, LimitedMemory) and policy.growth
    )


def growth_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Growth that differs between the GPUs of one process; workers each have their own."""
    gpus = tuple(device for device in devices if device.is_gpu)
    groups = device_groups(profile, gpus) if profile.strategy.kind in GANG_KINDS else (gpus,)
    return [problem for group in groups for problem in _growth_differs(profile, group, gpus)]


def _growth_differs(
    profile: Profile, group: tuple[PhysicalDevice, ...], gpus: tuple[PhysicalDevice, ...]
) -> list[Problem]:
    policies = {gpu: profile.memory_policy(gpu.key) for gpu in group}
    growing = [gpu for gpu, policy in policies.items() if grows(policy)]
    if not growing or len(growing) == len(group):
        return []
    bounded = [
        gpu
        for gpu, policy in policies.items()
        if gpu not in growing and isinstance(policy, LimitedMemory | SplitMemory)
    ]
    alone = isolated(profile, gpus)
    return [
        Problem(
            code="memory_limit_cancels_growth" if bounded else "memory_growth_differs",
            field="memory",
            message=_limit_words(bounded, growing) if bounded else _growth_words(growing),
            hint="Let every chosen GPU grow (limits may stay), let none grow, or give each a "
            "process of its own.",
            fix=_alike(policies),
            alternatives=() if alone is None else (alone,),
        )
    ]


def _growth_words(growing: list[PhysicalDevice]) -> str:
    """TensorFlow raises ``Memory growth cannot differ between GPU devices``, and only late."""
    return (
        f"Memory growth is on for {_names(growing)} but not for the other GPUs; "
        "TensorFlow knows it for all GPUs of one process or for none."
    )


def _limit_words(bounded: list[PhysicalDevice], growing: list[PhysicalDevice]) -> str:
    """A logical device configuration anywhere drops ``set_memory_growth`` everywhere, silently.

    Read in ``_compute_gpu_options`` of TensorFlow 2.21's ``tensorflow/python/eager/context.py``.
    """
    return (
        f"The fixed memory of {_names(bounded)} cancels the growth of {_names(growing)}: as "
        "soon as one GPU of a process has a limit that is taken at once, TensorFlow lets none "
        "grow."
    )


def _names(gpus: list[PhysicalDevice]) -> str:
    return ", ".join(gpu.name for gpu in gpus)


def _alike(policies: dict[PhysicalDevice, MemoryPolicy]) -> Fix:
    # A split GPU cannot grow: its limits are taken at the start.
    all_grow = not any(isinstance(policy, SplitMemory) for policy in policies.values())
    changes = tuple(
        Change(
            path=("memory", gpu.key),
            value=_with_growth(policy, growth=all_grow).model_dump(mode="json"),
        )
        for gpu, policy in policies.items()
    )
    return Fix(label="Let every chosen GPU grow" if all_grow else "Let none grow", changes=changes)


def _with_growth(policy: MemoryPolicy, *, growth: bool) -> MemoryPolicy:
    if isinstance(policy, LimitedMemory):
        return policy.model_copy(update={"growth": growth})
    if growth:
        return GrowingMemory()
    return policy if isinstance(policy, SplitMemory) else AllMemory()
