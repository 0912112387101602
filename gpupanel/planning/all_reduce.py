"""How gradients are summed over replicas, and where nothing is summed."""

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind

_SUMMING_KINDS = (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)
"""The strategies whose way of summing can be chosen."""


def all_reduce(
    profile: Profile,
    devices: tuple[PlannedDevice, ...],
    working_replicas: int,
    *,
    lacks_nccl: bool,
) -> AllReduce:
    """How gradients are summed: as chosen, else by NCCL where that works.

    Where nothing is summed nothing is chosen: what cannot work over several replicas does no harm.
    Several logical devices of one GPU turn NCCL off, and TensorFlow would fall back to reducing
    on one device; where its library is missing TensorFlow tries it all the same, and fails.

    Args:
        profile: What the person chose.
        devices: Those of the plan.
        working_replicas: Those with a share of the batch.
        lacks_nccl: It is known that TensorFlow does not find NCCL here.
    """
    chosen = profile.strategy.all_reduce
    if not sums_gradients(profile, working_replicas):
        return AllReduce.AUTO
    if chosen is not AllReduce.AUTO or profile.strategy.kind is not StrategyKind.MIRRORED:
        return chosen
    gpus = [device for device in devices if device.kind is DeviceKind.GPU]
    split = any(len(device.logical_limits_mib) > 1 for device in gpus)
    # On the CPU nothing is summed by NCCL, and a plain sum needs no choice.
    if split or (lacks_nccl and len(gpus) == len(devices)):
        return without_nccl(working_replicas)
    return chosen


def without_nccl(replicas: int) -> AllReduce:
    """How one process sums over GPUs without NCCL: by hierarchical copy where that is right."""
    if hierarchical_copy_is_right(replicas):
        return AllReduce.HIERARCHICAL_COPY
    return AllReduce.REDUCTION_TO_ONE_DEVICE


def sums_gradients(profile: Profile, working_replicas: int) -> bool:
    """Whether a run sums gradients over replicas in a way that can be chosen.

    Args:
        profile: What the person chose.
        working_replicas: Those with a share of the batch; the others are left out.
    """
    sums = profile.task == "train" and profile.strategy.kind in _SUMMING_KINDS
    return sums and working_replicas > 1


def hierarchical_copy_is_right(working_replicas: int) -> bool:
    """Whether TensorFlow's hierarchical copy sums over every replica that has a share.

    ``aggregate_gradients_using_hierarchical_copy`` in TensorFlow 2.21 makes two groups of
    ``replicas // 2``: of an odd number it leaves the last out, without a word.
    """
    return working_replicas % 2 == 0
