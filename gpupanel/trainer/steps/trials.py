"""Steps that are only tried: gradients are computed and forgotten, nothing learns from them."""

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.memory_shortage import full_device, is_out_of_memory
from gpupanel.trainer.parts.batch_norm import normalised_alone
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.feed import Feed
from gpupanel.trainer.steps.replica_sums import ReplicaSums
from gpupanel.trainer.steps.trial import Trial

Tried = Callable[[tf.Tensor, tf.Tensor, BatchPart], ReplicaSums]
"""A step of the loop that changes nothing and is always timed."""


class Trials:
    """Tries steps on all replicas of the run at once.

    Replicas do not wait for each other within a trial: batch normalisation takes the statistics of
    each part alone, and what was measured is only gathered afterwards. So memory that is too small
    on one of them leaves no other waiting.
    """

    def __init__(
        self, strategy: tf.distribute.Strategy, feed: Feed, tried: Tried, plan: LaunchPlan
    ) -> None:
        """Nothing is traced yet.

        Args:
            strategy: Of the run.
            feed: Of the training examples.
            tried: See :data:`Tried`.
            plan: Its replicas' devices and global batch size.
        """
        self._strategy = strategy
        self._feed = feed
        self._tried = tried
        self._devices = [replica.logical_device for replica in plan.replicas]
        self._here = len(strategy.extended.worker_devices)
        count = len(self._devices)
        sizes = tf.TensorSpec([count], tf.int32)
        self._compute = tf.function(
            self._on_replicas, input_signature=[sizes, *feed.signature], autograph=False
        )
        measured = tf.TensorSpec([self._here, 2], tf.float32)
        self._gather = tf.function(self._summed, input_signature=[measured], autograph=False)

    def __call__(self, sizes: Sequence[int], repeats: int) -> Trial:
        """Try a step with so many examples on each replica.

        Args:
            sizes: Examples for each replica of the run, each greater than 0.
            repeats: Steps to take the mean of.

        Raises:
            ProblemError: An example cannot be read.
        """
        # Every replica takes the first examples: which they are does not matter.
        batch = np.arange(max(sizes), dtype=np.int32)[np.newaxis] % self._feed.examples
        measured = np.zeros((self._here, 2), np.float32)
        try:
            parts = np.array([(0, size) for size in sizes], np.int32)
            tensors = (tf.constant(sizes, tf.int32), *self._feed.tensors(batch, parts))
            for _ in range(repeats):
                timings = self._strategy.experimental_local_results(self._compute(*tensors))
                measured[:, 0] += np.asarray([one.numpy()[0] for one in timings]) / repeats
        except tf.errors.OpError as error:
            # A copy without room is an InternalError.
            if not is_out_of_memory(error):
                raise
            measured[self._failed_here(str(error)), 1] = 1.0
        gathered = self._gather(tf.constant(measured)).numpy()
        failed = frozenset(int(replica) for replica in np.flatnonzero(gathered[:, 1]))
        return Trial(tuple(float(one) for one in gathered[:, 0]), failed)

    def _failed_here(self, message: str) -> list[int]:
        """Which replicas of this process an error is about; all where it does not say."""
        full = full_device(message)
        # Devices have the same names in each process.
        own = self._devices[: self._here]
        found = [index for index, device in enumerate(own) if device == full]
        return found or list(range(self._here))

    def _on_replicas(self, sizes: tf.Tensor, *stacked: tf.Tensor) -> tf.Tensor:
        return self._strategy.run(self._in_replica, args=(sizes, stacked))

    def _in_replica(self, sizes: tf.Tensor, tensors: tuple[tf.Tensor, ...]) -> tf.Tensor:
        replica = _replica()
        end = sizes[replica]
        features, labels = self._feed.part(replica, tensors, 0, tf.constant(0), end)
        with normalised_alone():
            part = BatchPart(tf.cast(end, tf.float32), tf.constant(0), tf.zeros([], tf.int64))
            sums = self._tried(features, labels, part)
        timing = sums.timing
        assert timing is not None  # it was asked for
        seen = tf.zeros([]) if timing.witness is None else timing.witness
        return tf.stack([timing.seconds, seen])

    def _summed(self, measured: tf.Tensor) -> tf.Tensor:
        def in_replica(measured: tf.Tensor) -> tf.Tensor:
            place = tf.one_hot(_replica(), len(self._devices))
            return place[:, tf.newaxis] * measured[_replica() % self._here]

        rows = self._strategy.run(in_replica, args=(measured,))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, rows, axis=None)


def _replica() -> int:
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
