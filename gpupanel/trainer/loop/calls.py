"""Several steps in one call of a ``tf.function``, on every replica at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.loop.feeds import Feed
from gpupanel.trainer.loop.order import divide_batch

ReplicaStep = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
"""From the features and labels of a replica's part, and the number of examples over all
replicas, to the summed loss and the summed measure of its part."""


@dataclass(frozen=True, slots=True)
class CallSums:
    """What one call did, over all its steps and replicas.

    Attributes:
        loss_sum: Not finite when the last step done was the first whose loss is not.
        measure_sum: As :class:`~gpupanel.trainer.models.objectives.Objective` counts it.
        steps: Steps done: fewer than asked when one of them had a loss that is not finite.
    """

    loss_sum: float
    measure_sum: float
    steps: int


class Calls:
    """Runs steps, traced once: batch size and number of steps may differ from call to call."""

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        feed: Feed,
        shares: tuple[int, ...],
        replica_step: ReplicaStep,
    ) -> None:
        self._strategy = strategy
        self._feed = feed
        self._shares = shares
        self._replica_step = replica_step
        bounds = tf.TensorSpec([len(shares), 2], tf.int32)
        copies = tf.TensorSpec([], tf.int32)
        # Without autograph: the loop is written with TensorFlow's own, which traces faster.
        self._function = tf.function(
            self._steps, input_signature=[bounds, copies, *feed.signature], autograph=False
        )

    def trace(self) -> None:
        """Build the graph now, so that the first call does not have to."""
        self._function.get_concrete_function()

    def __call__(self, batches: Indices) -> CallSums:
        """Do one step for each row.

        Args:
            batches: Example indices, shape [steps, batch]; the batch may be a smaller one.

        Raises:
            ProblemError: An example cannot be read.
        """
        parts = divide_batch(self._shares, batches.shape[1])
        division = (tf.constant(parts.bounds), tf.constant(parts.copies))
        sums = self._function(*division, *self._feed.tensors(batches)).numpy()
        return CallSums(float(sums[0]), float(sums[1]), round(float(sums[2])))

    def _steps(self, bounds: tf.Tensor, copies: tf.Tensor, *stacked: tf.Tensor) -> tf.Tensor:
        count = tf.shape(stacked[0])[0]
        examples = tf.cast(tf.shape(stacked[0])[1] * copies, tf.float32)

        def goes_on(step: tf.Tensor, loss_sum: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(step < count, tf.math.is_finite(loss_sum))

        def one_step(step: tf.Tensor, loss_sum: tf.Tensor, measure_sum: tf.Tensor) -> Any:  # noqa: ANN401
            tensors = tuple(tensor[step] for tensor in stacked)
            loss, measure = self._strategy.run(self._in_replica, args=(bounds, examples, tensors))
            return step + 1, loss_sum + self._sum(loss), measure_sum + self._sum(measure)

        step, loss_sum, measure_sum = tf.while_loop(
            goes_on, one_step, (0, 0.0, 0.0), parallel_iterations=1
        )
        # One tensor: each that is read costs a round trip.
        taken = tf.cast(copies, tf.float32)
        return tf.stack([loss_sum / taken, measure_sum / taken, tf.cast(step, tf.float32)])

    def _in_replica(
        self, bounds: tf.Tensor, examples: tf.Tensor, step: tuple[tf.Tensor, ...]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        context = tf.distribute.get_replica_context()
        replica = int(tf.get_static_value(context.replica_id_in_sync_group))
        features, labels = self._feed.part(replica, step, bounds[replica, 0], bounds[replica, 1])
        return self._replica_step(features, labels, examples)

    def _sum(self, per_replica: tf.Tensor) -> tf.Tensor:
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)
