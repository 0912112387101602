"""What summing gradients over replicas needs of them, and where nothing is summed."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import SplitMemory
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.rules.mig_rules import nccl_problems

_SUMMING_KINDS = (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)
"""The strategies whose way of summing can be chosen."""


def all_reduce_problems(
    profile: Profile, devices: tuple[PhysicalDevice, ...], working: int
) -> list[Problem]:
    """A way of summing gradients that cannot be had here, or that is not used.

    Args:
        profile: What the person chose.
        devices: The chosen ones.
        working: Replicas with a share of the batch.
    """
    strategy = profile.strategy
    if strategy.all_reduce is AllReduce.AUTO:
        return []
    if not sums_gradients(profile, working):
        return [_unused(profile, "nothing is summed over replicas")]
    if strategy.all_reduce is not AllReduce.NCCL:
        if strategy.kind is StrategyKind.MULTI_WORKER:
            return [_unused(profile, "workers sum over a ring, or by NCCL")]
        return _hierarchical_copy_of_odd(profile, working)
    if not any(device.is_gpu for device in devices):
        return [_nccl_without_gpus()]
    return [*_nccl_with_split(profile, devices), *nccl_problems(profile, devices)]


def sums_gradients(profile: Profile, working: int) -> bool:
    """Whether a run sums gradients over replicas in a way that can be chosen.

    Args:
        profile: What the person chose.
        working: Replicas with a share of the batch; those without are left out.
    """
    return profile.task == "train" and profile.strategy.kind in _SUMMING_KINDS and working > 1


def hierarchical_copy_is_right(working: int) -> bool:
    """Whether TensorFlow's hierarchical copy sums over every replica that has a share.

    ``aggregate_gradients_using_hierarchical_copy`` in TensorFlow 2.21 makes two groups of
    ``replicas // 2``: of an odd number it leaves the last out, without a word.
    """
    return working % 2 == 0


def _hierarchical_copy_of_odd(profile: Profile, working: int) -> list[Problem]:
    chosen = profile.strategy.all_reduce
    if chosen is not AllReduce.HIERARCHICAL_COPY or hierarchical_copy_is_right(working):
        return []
    return [
        Problem(
            code="hierarchical_copy_of_odd_replicas",
            field="strategy.all_reduce",
            message="TensorFlow's hierarchical copy sums over an even number of replicas only: of "
            f"{working} it would leave the last one's gradients out.",
            hint="Let the strategy choose, or use another number of replicas.",
            fix=_CHOOSE_AUTOMATICALLY,
        )
    ]


def _nccl_without_gpus() -> Problem:
    return Problem(
        code="nccl_without_gpus",
        field="strategy.all_reduce",
        message="NCCL sums over NVIDIA GPUs only, and this run uses the CPU.",
        hint="Let the strategy choose.",
        fix=_CHOOSE_AUTOMATICALLY,
    )


def _nccl_with_split(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Several logical devices of one GPU turn NCCL off: it wants one rank a GPU."""
    split = [
        device.name
        for device in devices
        if device.is_gpu and isinstance(profile.memory_policy(device.key), SplitMemory)
    ]
    if not split:
        return []
    return [
        Problem(
            code="nccl_with_split",
            field="strategy.all_reduce",
            message=f"NCCL cannot sum over several logical devices of one GPU ({split[0]}).",
            hint="Let the strategy choose a way that works on split GPUs.",
            fix=_CHOOSE_AUTOMATICALLY,
        )
    ]


def _unused(profile: Profile, why: str) -> Problem:
    kind, chosen = profile.strategy.kind, profile.strategy.all_reduce
    if profile.task != "train":
        message = f"{chosen} is not used where nothing is trained: {why}."
    elif kind is StrategyKind.CENTRAL_STORAGE:
        message = f"{chosen} is not used by the strategy {kind}: gradients are summed where the "
        message += "weights are."
    elif kind is StrategyKind.MIRRORED:
        message = f"{chosen} is not used by one replica alone: {why}."
    else:
        message = f"{chosen} is not used by the strategy {kind}: {why}."
    return Problem(
        code="all_reduce_unused",
        severity=Severity.HINT,
        field="strategy.all_reduce",
        message=message,
        hint="Let the strategy choose.",
        fix=_CHOOSE_AUTOMATICALLY,
    )


_CHOOSE_AUTOMATICALLY = Fix(
    label="Choose automatically",
    changes=(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value),),
)
