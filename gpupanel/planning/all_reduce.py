"""How gradients are summed over replicas, and where nothing is summed."""

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind

_SUMMING_KINDS = (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)
"""The strategies whose way of summing can be chosen."""


def all_reduce(
    profile: Profile, devices: tuple[PlannedDevice, ...], working_replicas: int
) -> AllReduce:
    """How gradients are summed: as chosen, else by hierarchical copy where a GPU is split.

    Where nothing is summed nothing is chosen: what cannot work over several replicas does no harm.
    Several logical devices of one GPU turn NCCL off, and TensorFlow would fall back to reducing
    on one device; which is right where hierarchical copy is not.
    """
    chosen = profile.strategy.all_reduce
    if not sums_gradients(profile, working_replicas):
        return AllReduce.AUTO
    split = any(
        device.kind is DeviceKind.GPU and len(device.logical_limits_mib) > 1 for device in devices
    )
    mirrored = profile.strategy.kind is StrategyKind.MIRRORED
    if not (chosen is AllReduce.AUTO and mirrored and split):
        return chosen
    if hierarchical_copy_is_right(working_replicas):
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
