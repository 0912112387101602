"""Memory growth: TensorFlow knows it for all GPUs of one process, or for none."""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import (
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import isolated
from gpupanel.planning.device_layout import grows


def growth_differs(context: PlanningContext) -> Iterator[Problem]:
    """Growth that differs between the GPUs of one process; workers each have their own."""
    for group in context.gpu_groups:
        policies = {gpu: context.profile.memory_policy(gpu.key) for gpu in group}
        growing = [gpu for gpu, policy in policies.items() if grows(policy)]
        if not growing or len(growing) == len(group):
            continue
        bounded = [
            gpu
            for gpu, policy in policies.items()
            if gpu not in growing and isinstance(policy, LimitedMemory | SplitMemory)
        ]
        alone = isolated(context.profile, context.gpus)
        yield Problem(
            code="memory_limit_cancels_growth" if bounded else "memory_growth_differs",
            field="memory",
            message=_limit_message(bounded, growing) if bounded else _growth_message(growing),
            hint="Let every chosen GPU grow (limits and splits may stay), let none grow, or give "
            "each a process of its own.",
            fix=_all_growing(policies),
            alternatives=() if alone is None else (alone,),
        )


def _growth_message(growing: list[PhysicalDevice]) -> str:
    """TensorFlow raises ``Memory growth cannot differ between GPU devices``, and only late."""
    return (
        f"Memory growth is on for {_names(growing)} but not for the other GPUs; "
        "TensorFlow knows it for all GPUs of one process or for none."
    )


def _limit_message(bounded: list[PhysicalDevice], growing: list[PhysicalDevice]) -> str:
    """A logical device configuration anywhere drops ``set_memory_growth`` everywhere, silently.

    Read in ``_compute_gpu_options`` of TensorFlow 2.21's ``tensorflow/python/eager/context.py``.
    """
    has = "has a fixed limit" if len(bounded) == 1 else "have fixed limits"
    return (
        f"{_names(bounded)} {has}; then {_names(growing)} cannot grow: TensorFlow takes the "
        "memory of all GPUs of a process at once as soon as one has such a limit."
    )


def _names(gpus: list[PhysicalDevice]) -> str:
    return ", ".join(gpu.name for gpu in gpus)


def _all_growing(policies: dict[PhysicalDevice, MemoryPolicy]) -> Fix:
    changes = tuple(
        Change(path=("memory", gpu.key), value=_growing(policy).model_dump(mode="json"))
        for gpu, policy in policies.items()
    )
    return Fix(label="Let every chosen GPU grow", changes=changes)


def _growing(policy: MemoryPolicy) -> MemoryPolicy:
    if isinstance(policy, LimitedMemory | SplitMemory):
        return policy.model_copy(update={"growth": True})
    return GrowingMemory()
