"""What one replica gives of its part of a step, and how long it took."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from gpupanel.trainer.steps.clock import timestamp

_HOST = "/device:CPU:0"


class ReplicaSums(NamedTuple):
    """Sums of one replica's part of one step.

    Attributes:
        sums: Over its examples, of loss and metrics, as
            :class:`~gpupanel.trainer.models.objectives.Objective` counts them; float32.
        timing: From its part of the batch being ready to its gradients being ready, so without
            waiting for other replicas; ``None`` where the graph has no clocks.
        of_update: What the update of the whole batch gives, the same on all replicas; empty where
            nothing learned.
    """

    sums: tf.Tensor
    timing: "Timing | None" = None
    of_update: tuple[tf.Tensor, ...] = ()


class Timing(NamedTuple):
    """A time that was measured within a graph; float32 scalars.

    Attributes:
        seconds: How long it took.
        witness: Of no meaning, but has to be among what the graph returns where it is not
            ``None``: TensorFlow skips whatever only a clock waits for.
    """

    seconds: tf.Tensor
    witness: tf.Tensor | None


class Instant(NamedTuple):
    """A moment within a graph.

    Attributes:
        clock_s: Float64; comes when the moment is there, so that others can wait for it.
        witness: See :class:`Timing`.
    """

    clock_s: tf.Tensor
    witness: tf.Tensor | None

    def until(self, end: "Instant") -> Timing:
        """The time from this moment to a later one."""
        if self.witness is None or end.witness is None:
            return Timing(tf.cast(end.clock_s - self.clock_s, tf.float32), None)
        with tf.device(_HOST):
            seconds = tf.cast(end.clock_s - self.clock_s, tf.float32)
            return Timing(seconds, self.witness + end.witness)


def instant(after: Sequence[tf.Tensor], *, alone: bool = False) -> Instant:
    """The moment at which these tensors are computed.

    An operation of the CPU is done when it has ended. A GPU counts one as done when it is queued:
    so a number that comes after all of them is copied to the host, and the clock waits for the
    copy.

    Args:
        after: What is waited for.
        alone: Nothing else needs them: TensorFlow would skip them but for a number of each.
    """
    if alone:
        numbers = [tf.reduce_sum(tf.cast(tf.reshape(each, [-1])[:1], tf.float32)) for each in after]
        return _arrival(tf.add_n(numbers))
    with tf.control_dependencies(after):
        if all("GPU" not in tensor.device for tensor in after):
            # On the replica's own device: an edge to another logical device of the CPU costs more
            # than the clock.
            return Instant(_clock(), None)
        # There is none in an empty part.
        number = tf.reduce_sum(tf.cast(tf.reshape(after[0], [-1])[:1], tf.float32))
    return _arrival(number)


def _arrival(number: tf.Tensor) -> Instant:
    """The moment at which a number has come to the host."""
    with tf.device(_HOST):
        # Something to do there: a mere copy would be optimised away.
        arrived = tf.abs(number)
        with tf.control_dependencies([arrived]):
            return Instant(_clock(), arrived)


def _clock() -> tf.Tensor:
    """The time, in seconds; float64, shape [].

    In a ``tf.function`` operations with a state, of which the clock is one, wait for each other in
    the order of the program: the first clock of a replica would wait for the last clock of the
    replica before it, and its computing, which waits for the clock, likewise.
    """
    clock_s = timestamp()
    clock_s.graph.experimental_acd_manager.run_independently(clock_s.op)
    return clock_s
