"""Batch normalisation over the whole global batch, however it is divided."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import keras
import tensorflow as tf
from typing_extensions import override

_ALONE: ContextVar[bool] = ContextVar("normalised_alone", default=False)


@contextmanager
def normalised_alone() -> Iterator[None]:
    """What is traced within takes the statistics of its own part: no replica waits for another."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


class SynchronizedBatchNormalization(keras.layers.BatchNormalization):  # type: ignore[misc]
    """Takes mean and variance over the examples of every replica, each counted once.

    Keras's own ``synchronized=True`` sums three times a layer, and takes the variance as
    ``E[x^2] - E[x]^2``, which cancels where the mean is great. Here each replica gives its count,
    mean and variance beside those of the others, in one sum, and all of them put the same
    whole together from the same numbers.

    It is only for training: ``model.keras`` holds Keras's own layer with these weights.
    """

    @override
    def call(
        self, inputs: tf.Tensor, training: bool | None = None, mask: tf.Tensor | None = None
    ) -> tf.Tensor:
        """See ``keras.layers.BatchNormalization.call``; there are no masks here."""
        context = tf.distribute.get_replica_context()
        alone = not training or context is None or _ALONE.get()
        if alone or isinstance(inputs, keras.KerasTensor):
            return super().call(inputs, training=training, mask=mask)
        values = tf.cast(inputs, tf.float32)
        mean, variance = _whole_moments(values, context)
        kept, new = self.momentum, 1.0 - self.momentum
        self.moving_mean.assign(self.moving_mean * kept + mean * new)
        self.moving_variance.assign(self.moving_variance * kept + variance * new)
        outputs = tf.nn.batch_normalization(
            values, mean, variance, self.beta, self.gamma, self.epsilon
        )
        return tf.cast(outputs, self.compute_dtype)


def _whole_moments(
    values: tf.Tensor, context: tf.distribute.ReplicaContext
) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean and variance of the last axis's entries over all replicas.

    The variance of the whole is the mean of the parts' variances and of the squared distances of
    their means from the whole's, each weighted by its count (the law of total variance).
    """
    axes = list(range(len(values.shape) - 1))
    mean, variance = tf.nn.moments(values, axes)
    count = tf.cast(tf.size(values) // tf.shape(values)[-1], tf.float32)
    own = tf.concat([[count], mean, variance], axis=0)
    place = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync)
    # Summed with zeros of all the others, each part's numbers stand in their own row.
    parts = context.all_reduce(tf.distribute.ReduceOp.SUM, place[:, tf.newaxis] * own)
    weights = parts[:, :1] / tf.reduce_sum(parts[:, 0])
    means, variances = tf.split(parts[:, 1:], 2, axis=1)
    whole = tf.reduce_sum(weights * means, axis=0)
    distances = tf.math.squared_difference(means, whole)
    return whole, tf.reduce_sum(weights * (variances + distances), axis=0)
