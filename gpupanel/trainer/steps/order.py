"""Which examples each step takes, and which of them each replica."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.parts.epoch_order import EpochOrder

_MOST_REPEATED = 100_000_000
"""Their order takes 1.6 GB while it is drawn."""


def make_epoch_order(data: DataSource, split: Split, seed: int) -> EpochOrder:
    """The order of the training examples of a run.

    Raises:
        ProblemError: Rare classes are to be repeated, and the labels are no classes, or an epoch
            would be too long.
    """
    classes = split.training.labels if data.oversample else None
    if classes is not None and split.data.target is not Target.CLASSES:
        raise ProblemError(_NO_CLASSES)
    order = EpochOrder(len(split.training), seed, shuffle=data.shuffle, classes=classes)
    if classes is not None and len(order) > _MOST_REPEATED:
        raise ProblemError(_too_long(len(order)))
    return order


def _too_long(examples: int) -> Problem:
    return Problem(
        code="oversample_too_long",
        field="data.oversample",
        message="With as many examples of each class as of the most frequent one, an epoch would "
        f"have {examples:,}; the maximum is {_MOST_REPEATED:,}.",
        hint='Set data.oversample to false, and data.class_weights to "balanced".',
    )


_NO_CLASSES = Problem(
    code="oversample_without_classes",
    field="data.oversample",
    message="Only classes can be oversampled, and the labels are not classes.",
    hint="Set data.oversample to false.",
)


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

    bounds: Indices
    copies: int
    micro_batches: int

    @property
    def sizes(self) -> Indices:
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


def _micro_batches(sizes: Indices, shares: Sequence[int], accumulation_steps: int) -> int:
    """Micro-batches of a partial batch: none is larger than in a full one."""
    smallest = int(sizes.min())
    if smallest >= accumulation_steps:
        return accumulation_steps
    usual = np.maximum(-(-np.asarray(shares) // accumulation_steps), 1)
    return min(smallest, int(np.max(-(-sizes // usual))))


def steps_per_epoch(examples: int, global_batch_size: int) -> int:
    """Optimizer updates of one epoch, the last smaller batch counted."""
    return -(-examples // global_batch_size)
