"""What one replica gives of its part of a step, and how long it took."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

_HOST = "/device:CPU:0"


class ReplicaSums(NamedTuple):
    """Of one replica's part of one step.

    Attributes:
        sums: Over its examples, of loss and measures, as
            :class:`~gpupanel.trainer.models.objectives.Objective` counts them; float32.
        timing: From its part of the batch being ready to its gradients being ready, so without
            waiting for other replicas; ``None`` where the graph has no clocks.
    """

    sums: tf.Tensor
    timing: "Timing | None" = None


class Timing(NamedTuple):
    """A time that was measured within a graph; float32.

    Attributes:
        seconds: How long it took; a scalar.
        ended: When it ended: see :func:`clock_numbers`.
        witness: Of no meaning, but has to be among what the graph returns: TensorFlow skips
            whatever only a clock waits for.
    """

    seconds: tf.Tensor
    ended: tf.Tensor
    witness: tf.Tensor


class Instant(NamedTuple):
    """A moment within a graph.

    Attributes:
        clock_s: Float64; comes when the moment is there, so that others can wait for it.
        witness: See :class:`Timing`.
    """

    clock_s: tf.Tensor
    witness: tf.Tensor

    def until(self, end: "Instant") -> Timing:
        """The time from this moment to a later one."""
        seconds = tf.cast(end.clock_s - self.clock_s, tf.float32)
        return Timing(seconds, clock_numbers(end.clock_s), self.witness + end.witness)


CLOCK_PERIOD_S = 4096.0
"""After so long :func:`clock_numbers` begin again: far longer than a step."""


def clock_numbers(clock_s: tf.Tensor) -> tf.Tensor:
    """A clock as float32, shape [2], to 0.1 us: whole seconds of a period, and the rest."""
    with tf.device(_HOST):
        in_period = tf.math.floormod(clock_s, CLOCK_PERIOD_S)
        whole = tf.floor(in_period)
        return tf.cast(tf.stack([whole, in_period - whole]), tf.float32)


def instant(after: Sequence[tf.Tensor], when: tf.Tensor | None = None) -> Instant:
    """The moment at which these tensors are computed.

    A GPU counts an operation as done when it is queued. So a number that needs all of them is
    copied to the host, and the clock waits for the copy.

    Args:
        after: What is waited for.
        when: Whether to look at a clock at all, a boolean scalar: that costs as much as some small
            operations. Otherwise the moment is 0.0. ``None``: always.
    """
    if when is None:
        return _instant(after)
    clock_s, witness = tf.cond(
        when,
        lambda: tuple(_instant(after)),
        lambda: (tf.constant(0.0, tf.float64), tf.constant(0.0)),
    )
    return Instant(clock_s, witness)


def _instant(after: Sequence[tf.Tensor]) -> Instant:
    # Of the first number only, of which there is none where the part is empty.
    numbers = [tf.reduce_sum(tf.cast(tf.reshape(tensor, [-1])[:1], tf.float32)) for tensor in after]
    total = tf.add_n(numbers)
    with tf.device(_HOST):
        # Something to do there: a mere copy would be optimised away.
        arrived = tf.abs(total)
        with tf.control_dependencies([arrived]):
            return Instant(tf.timestamp(), arrived)
