"""Which examples each step takes, and which of them each replica."""

from collections.abc import Sequence

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


def replica_offsets(shares: Sequence[int], batch_size: int) -> Indices:
    """Where each replica's part of a global batch begins and ends.

    Replica ``r`` takes ``batch[offsets[r]:offsets[r + 1]]``. A smaller batch is divided as nearly
    as the shares are as whole examples allow; a replica with no share gets none of it either.

    Args:
        shares: Examples of a full global batch, per replica.
        batch_size: Examples of this batch, at most those of a full one.

    Returns:
        One more offset than replicas, the first 0 and the last ``batch_size``.
    """
    borders = np.concatenate([[0], np.cumsum(shares)])
    return np.asarray(borders * batch_size // borders[-1], np.int32)


def steps_per_epoch(examples: int, global_batch_size: int) -> int:
    """Optimizer updates of one epoch, the last smaller batch counted."""
    return -(-examples // global_batch_size)
