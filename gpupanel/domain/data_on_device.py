"""Whether a data set is copied to a GPU, so that a call of several steps carries indices only."""

from typing import Final

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
