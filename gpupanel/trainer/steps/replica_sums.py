"""What one replica gives of its part of a step, and how long it took."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import tensorflow as tf

from gpupanel.trainer.steps.clock import timestamp

_HOST = "/device:CPU:0"
_CLOCK_S = 64.0
"""A time that a GPU holds is counted up to here, and from 0 again: so a float32 says it to some
microseconds. What a replica computes of a step takes less."""

_chosen = threading.local()
"""Each replica is traced on a thread of its own."""


@contextmanager
def timed_where(chosen: tf.Tensor) -> Iterator[None]:
    """Time what GPUs compute in here only where that is so; elsewhere it takes 0 s.

    To look at the time of a GPU the host waits for it: in each step that would keep it from
    launching the next one.

    Args:
        chosen: A bool that the host has.
    """
    _chosen.where = chosen
    try:
        yield
    finally:
        del _chosen.where


def _is_timed_by_choice() -> bool:
    """Whether that was asked for here."""
    return hasattr(_chosen, "where")


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
        by_choice: It is 0 but where it was asked for: see :func:`timed_where`.
    """

    seconds: tf.Tensor
    witness: tf.Tensor | None
    by_choice: bool = False


class Instant(NamedTuple):
    """A moment within a graph.

    Attributes:
        clock_s: Float64; comes when the moment is there, so that others can wait for it. Float32
            and on a GPU where it is only looked at now and then (:func:`timed_where`).
        witness: See :class:`Timing`.
    """

    clock_s: tf.Tensor
    witness: tf.Tensor | None

    @property
    def is_of_gpu(self) -> bool:
        """Whether a GPU would stand still for what waited for it."""
        return self.witness is not None or self.clock_s.dtype == tf.float32

    def until(self, end: "Instant") -> Timing:
        """The time from this moment to a later one."""
        if end.clock_s.dtype == tf.float32:
            passed_s = tf.math.floormod(end.clock_s - self.clock_s, _CLOCK_S)
            return Timing(passed_s, None, by_choice=True)
        if self.witness is None or end.witness is None:
            return Timing(tf.cast(end.clock_s - self.clock_s, tf.float32), None)
        with tf.device(_HOST):
            seconds = tf.cast(end.clock_s - self.clock_s, tf.float32)
            return Timing(seconds, self.witness + end.witness)


def instant(
    after: Sequence[tf.Tensor], *, alone: bool = False, since: Instant | None = None
) -> Instant:
    """The moment at which these tensors are computed.

    An operation of the CPU is done when it has ended. A GPU counts one as done when it is queued:
    so a number that comes after all of them is copied to the host, and the clock waits for the
    copy.

    Args:
        after: What is waited for.
        alone: Nothing else needs them: TensorFlow would skip them but for a number of each.
        since: The moment from which on time is counted to this one.
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
    if not _is_timed_by_choice():
        return _arrival(number)
    # The host may look at the clock of what came first last.
    with tf.control_dependencies([] if since is None else [since.clock_s]):
        return _chosen_arrival(number, after[0].device)


def _chosen_arrival(number: tf.Tensor, device: str) -> Instant:
    """The moment at which a number has come to the host, if it is brought there at all."""

    def seconds() -> tf.Tensor:
        arrived = _arrival(number)
        assert arrived.witness is not None
        with tf.device(_HOST):
            clock_s = tf.cast(tf.math.floormod(arrived.clock_s, _CLOCK_S), tf.float32)
            # Or TensorFlow would not bring the number: nothing is added.
            clock_s += tf.minimum(arrived.witness, 0.0)
        with tf.device(device):
            return tf.identity(clock_s)

    def nothing() -> tf.Tensor:
        with tf.device(device):
            return tf.zeros([])

    with tf.device(device):
        clock_s = tf.cond(_chosen.where, seconds, nothing)
    made = clock_s.op
    while made.type == "Identity":
        made = made.inputs[0].op
    # As the clock that is in it.
    made.graph.experimental_acd_manager.run_independently(made)
    return Instant(clock_s, None)


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
