"""What a GPU holds of a data set: a copy, or the examples of some steps.

With a copy a call of several steps carries indices only.
"""

from typing import Final

from gpupanel.domain.plan import LaunchPlan

_MOST_OF_REST: Final = 0.25
"""Of what weights, gradients and optimizer leave of a GPU, the part that data may take where nobody
knows what a step holds: the rest is for that."""
_STEP_AT_MOST: Final = 1.25
"""What a step may hold over what was estimated: that is within 15 %, mostly."""
_NOT_COUNTED: Final = 64 * 2**20
"""For what nobody estimates: work space of cuDNN, and gaps between what is held."""


def fits_on_device(data_bytes: int, left_bytes: float, step_bytes: int | None = None) -> bool:
    """Whether data is copied to a GPU.

    Args:
        data_bytes: What all sets of the run take there.
        left_bytes: What of its memory is left beside weights, gradients and optimizer.
        step_bytes: What a step is estimated to hold besides; ``None``: that is not known.
    """
    if data_bytes <= _MOST_OF_REST * left_bytes:
        return True
    if step_bytes is None:
        return False
    return data_bytes + _STEP_AT_MOST * step_bytes + _NOT_COUNTED <= left_bytes


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
