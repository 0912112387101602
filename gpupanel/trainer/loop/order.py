"""Which examples each step takes, and which of them each replica."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpupanel.trainer.datasets.examples import Indices


def epoch_order(examples: int, seed: int, epoch: int, *, shuffle: bool) -> Indices:
    """The examples of one epoch, in an order that depends on seed and epoch alone.

    Args:
        examples: How many there are.
        seed: Of the run.
        epoch: Counted from 1.
        shuffle: Without it they come as the source has them.
    """
    if not shuffle:
        return np.arange(examples, dtype=np.int32)
    return np.random.default_rng([seed, epoch]).permutation(examples).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """How one global batch is divided.

    Replica ``r`` takes ``batch[bounds[r, 0]:bounds[r, 1]]``.

    Attributes:
        bounds: Where each replica's part begins and ends, shape [replicas, 2].
        copies: How many replicas take each example: 1, or all of them. What they sum up is then
            divided by it, which is the same mathematics.
    """

    bounds: Indices
    copies: int

    @property
    def sizes(self) -> Indices:
        """Examples of each replica's part."""
        return self.bounds[:, 1] - self.bounds[:, 0]


def divide_batch(shares: Sequence[int], batch_size: int) -> Parts:
    """Divide a global batch by the shares, all of them greater than 0.

    A smaller batch is divided as nearly as the shares are as whole examples allow. One so small
    that a replica would have nothing is taken whole by every replica: convolutions and batch
    normalisation have no answer to no example.

    Args:
        shares: Examples of a full global batch, per replica.
        batch_size: Examples of this batch, at most those of a full one.
    """
    borders = np.concatenate([[0], np.cumsum(shares)])
    offsets = np.asarray(borders * batch_size // borders[-1], np.int32)
    parts = Parts(np.stack([offsets[:-1], offsets[1:]], axis=1), copies=1)
    if parts.sizes.min() > 0:
        return parts
    return Parts(np.tile(np.asarray([0, batch_size], np.int32), (len(shares), 1)), len(shares))


def steps_per_epoch(examples: int, global_batch_size: int) -> int:
    """Optimizer updates of one epoch, the last smaller batch counted."""
    return -(-examples // global_batch_size)
