"""Which examples of a global batch each replica takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """How one global batch is divided.

    Replica ``r`` takes ``batch[bounds[r, 0]:bounds[r, 1]]``.

    Attributes:
        bounds: Where each replica's part begins and ends, shape [replicas, 2].
        copies: How many replicas take each example: 1, or all of them. What they sum up is then
            divided by it, which is the same mathematics.
        micro_batches: In how many, one after the other, each replica takes its part; the same on
            each, because batch normalisation may be over all of them.
    """

    bounds: Places
    copies: int
    micro_batches: int

    @property
    def sizes(self) -> Places:
        """Examples of each replica's part."""
        return self.bounds[:, 1] - self.bounds[:, 0]


def divide_batch(shares: Sequence[int], batch_size: int, accumulation_steps: int = 1) -> Parts:
    """Divide a global batch by the shares.

    A smaller batch is divided as nearly as the shares are as whole examples allow, and no replica
    goes without: convolutions and batch normalisation have no answer to no example. So each has at
    least one for each micro-batch, or for as many of them as there are examples. Fewer examples
    than replicas are taken whole by every replica.

    Args:
        shares: Examples of a full global batch, per replica.
        batch_size: Examples of this batch, at most those of a full one.
        accumulation_steps: Micro-batches of each part of a full batch.
    """
    borders = np.concatenate([[0], np.cumsum(shares)]) * batch_size // sum(shares)
    least = min(batch_size // len(shares), accumulation_steps) * np.arange(len(borders))
    borders = np.maximum.accumulate(borders - least) + least
    borders = np.minimum(borders, batch_size - least[::-1])
    bounds, copies = np.stack([borders[:-1], borders[1:]], axis=1), 1
    if batch_size < len(shares):
        bounds, copies = np.tile([0, batch_size], (len(shares), 1)), len(shares)
    micro_batches = _micro_batches(bounds[:, 1] - bounds[:, 0], shares, accumulation_steps)
    return Parts(bounds.astype(np.int32), copies, micro_batches)


def _micro_batches(sizes: Places, shares: Sequence[int], accumulation_steps: int) -> int:
    """Micro-batches of a partial batch: none is larger than in a full one."""
    smallest = int(sizes.min())
    if smallest >= accumulation_steps:
        return accumulation_steps
    usual = np.maximum(-(-np.asarray(shares) // accumulation_steps), 1)
    return min(smallest, int(np.max(-(-sizes // usual))))
