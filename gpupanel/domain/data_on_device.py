"""What a GPU holds of a data set: a copy, or the examples of some steps.

With a copy a call of several steps carries indices only.
"""

from typing import Final

from gpupanel.domain.plan import LaunchPlan

MOST_DATA_BYTES: Final = 256 * 2**20
"""A set whose features take more in the host's memory stays there."""
_MOST_OF_REST: Final = 0.25
"""Of what weights, gradients and optimizer leave of a GPU, the part that data may take: the rest is
for what a step holds, and a copy saves no more than the time to bring examples there."""


def fits_on_device(data_bytes: int, left_bytes: float) -> bool:
    """Whether data is copied to a GPU.

    Args:
        data_bytes: What all sets of the run take there.
        left_bytes: What of its memory is left beside weights, gradients and optimizer.
    """
    return data_bytes <= _MOST_OF_REST * left_bytes


MOST_CALL_BYTES: Final = 128 * 2**20
"""Of the features that one call carries to the devices of a process. They hold these, and those of
the next call, beside what they compute with: short steps of 50 ms could carry far more."""
_OF_LIMIT: Final = 16
"""A call carries no more than this part of the smallest memory limit, in one step at least."""


def most_call_bytes(plan: LaunchPlan) -> int:
    """The most bytes of features that a call of that plan carries, if they are not in memory."""
    limits = [limit for device in plan.devices for limit in device.logical_limits_mib]
    known = [limit * 2**20 // _OF_LIMIT for limit in limits if limit is not None]
    return min([MOST_CALL_BYTES, *known])
