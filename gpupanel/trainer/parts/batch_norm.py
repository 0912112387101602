"""Batch normalisation as the loop needs it: measured call by call, and over all replicas.

The layers stay Keras's own, wherever in a model they stand: in a model within the model, in a
layer that is made of others, or in several places at once. Only what their ``call`` does in
training is changed.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import keras
import tensorflow as tf

Moments = tuple[tf.Tensor, tf.Tensor]
"""Mean and variance of the inputs of one call, shape [channels] each."""

_ALONE: ContextVar[bool] = ContextVar("normalised_alone", default=False)


class MeasuredCalls:
    """What batch normalisations measured while a model was called once, in the order of calls."""

    def __init__(self) -> None:
        self._of: dict[int, list[Moments]] = {}
        self.exchanged: list[tf.Tensor] = []
        """What replicas gave each other about their parts, call by call."""

    def add(self, norm: keras.layers.BatchNormalization, moments: Moments) -> None:
        """A layer was called in training."""
        self._of.setdefault(id(norm), []).append(moments)

    def of(self, norm: keras.layers.BatchNormalization) -> list[Moments]:
        """The calls of a layer: a shared one has several, one that only infers has none."""
        return self._of.get(id(norm), [])


_MEASURED: ContextVar[MeasuredCalls | None] = ContextVar("measured_calls", default=None)


_KNOWN: ContextVar[Iterator[tf.Tensor] | None] = ContextVar("known_exchanges", default=None)


@contextmanager
def measured_again(exchanged: Sequence[tf.Tensor]) -> Iterator[None]:
    """What is called within is called once more: replicas know what they gave each other then.

    Args:
        exchanged: In those calls, a part of :attr:`MeasuredCalls.exchanged`.
    """
    known = _KNOWN.set(iter(exchanged))
    try:
        with measured_calls():
            yield
    finally:
        _KNOWN.reset(known)


@contextmanager
def normalised_alone() -> Iterator[None]:
    """What is traced within takes the statistics of its own part: no replica waits for another."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


@contextmanager
def measured_calls() -> Iterator[MeasuredCalls]:
    """What the layers of a prepared model measure within, in a scope without state.

    There they change nothing: their moving statistics begin each call at zero.
    """
    calls = MeasuredCalls()
    token = _MEASURED.set(calls)
    try:
        yield calls
    finally:
        _MEASURED.reset(token)


def batch_norms(model: keras.Model) -> list[keras.layers.BatchNormalization]:
    """The batch normalisations of a model, within layers and models of it, too."""
    every = model._flatten_layers()  # noqa: SLF001 - Keras has no other way to all of them
    return [layer for layer in every if isinstance(layer, keras.layers.BatchNormalization)]


def prepare_batch_norms(model: keras.Model, *, across_replicas: bool) -> None:
    """Have the model's batch normalisations measure what they are called with in training.

    Keras's own ``synchronized=True`` sums three times a layer, and takes the variance as
    ``E[x^2] - E[x]^2``, which cancels where the mean is great. Here each replica gives its count,
    mean and variance beside those of the others, in one sum, and all of them put the same
    whole together from the same numbers.

    Args:
        model: Which is trained; the one that is saved is built anew.
        across_replicas: Take mean and variance over the examples of every replica, each counted
            once.
    """
    for norm in batch_norms(model):
        prepare_batch_norm(norm, across_replicas=across_replicas)


def prepare_batch_norm(norm: keras.layers.BatchNormalization, *, across_replicas: bool) -> None:
    """Prepare one batch normalisation, as :func:`prepare_batch_norms` does all."""
    call_alone = norm.call
    # A layer that was put on a device stays there: placed_layer.py.
    call_with_others = getattr(call_alone, "placed", _as_it_is)(call_over_replicas)

    # Keras reads the signature to see which arguments a layer takes: wraps keeps it.
    @functools.wraps(call_alone)
    def call(
        inputs: tf.Tensor,
        training: bool | None = None,  # noqa: FBT001 - as Keras calls it
        mask: tf.Tensor | None = None,
    ) -> tf.Tensor:
        calls = _MEASURED.get()
        if not training or not norm.trainable or calls is None:
            return call_alone(inputs, training=training, mask=mask)
        # From zero, one step of a moving average is the new value times 1 - momentum.
        for moving in (norm.moving_mean, norm.moving_variance):
            moving.assign(tf.zeros(moving.shape))
        if across_replicas and not _ALONE.get():
            outputs = call_with_others(norm, inputs, mask)
        else:
            outputs = call_alone(inputs, training=True, mask=mask)
        new = 1.0 - norm.momentum
        calls.add(norm, (norm.moving_mean.value / new, norm.moving_variance.value / new))
        return outputs

    norm.call = call


def _as_it_is(call: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    return call


def call_over_replicas(
    norm: keras.layers.BatchNormalization, inputs: tf.Tensor, mask: tf.Tensor | None
) -> tf.Tensor:
    """What ``keras.layers.BatchNormalization.call`` does, with the statistics of all replicas."""
    values = tf.cast(inputs, tf.float32)
    mean, variance = whole_moments(values, norm.axis, mask)
    new = 1.0 - norm.momentum
    norm.moving_mean.assign(mean * new)
    norm.moving_variance.assign(variance * new)
    outputs = keras.ops.batch_normalization(
        values,
        mean,
        variance,
        norm.axis,
        offset=norm.beta if norm.center else None,
        scale=norm.gamma if norm.scale else None,
        epsilon=norm.epsilon,
    )
    return tf.cast(outputs, norm.compute_dtype)


def whole_moments(values: tf.Tensor, axis: int, mask: tf.Tensor | None) -> Moments:
    """Mean and variance of each channel over all replicas.

    The variance of the whole is the mean of the parts' variances and of the squared distances of
    their means from the whole's, each weighted by its count (the law of total variance).

    Args:
        values: Of this replica, float32.
        axis: Of the channels.
        mask: Which of the values count, shape of all axes but the last; ``None``: all do.
    """
    context = tf.distribute.get_replica_context()
    channels = axis % len(values.shape)
    axes = [each for each in range(len(values.shape)) if each != channels]
    if mask is None:
        mean, variance = tf.nn.moments(values, axes)
        count = tf.cast(tf.size(values) // tf.shape(values)[channels], tf.float32)
    else:
        counted = tf.cast(mask, tf.float32)[..., tf.newaxis]
        mean, variance = tf.nn.weighted_moments(values, axes, counted)
        count = tf.reduce_sum(counted)
    own = tf.concat([[count], mean, variance], axis=0)
    place = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync)
    # Summed with zeros of all the others, each part's numbers stand in their own row.
    parts = _exchanged(place[:, tf.newaxis] * own)
    weights = parts[:, :1] / tf.reduce_sum(parts[:, 0])
    means, variances = tf.split(parts[:, 1:], 2, axis=1)
    whole = tf.reduce_sum(weights * means, axis=0)
    distances = tf.math.squared_difference(means, whole)
    return whole, tf.reduce_sum(weights * (variances + distances), axis=0)


def _exchanged(own: tf.Tensor) -> tf.Tensor:
    """The sum over the replicas; where it is known already, with the gradient of that sum."""
    known, calls = _KNOWN.get(), _MEASURED.get()
    replicas = tf.distribute.get_replica_context()
    total = tf.distribute.ReduceOp.SUM
    if known is None:
        summed = replicas.all_reduce(total, own)
        if calls is not None:
            calls.exchanged.append(summed)
        return summed
    before = next(known)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def as_before(own: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        del own
        return tf.identity(before), lambda gradient: replicas.all_reduce(total, gradient)

    result: tf.Tensor = as_before(own)
    return result


def contributed_moments(calls: Sequence[Moments], centre: tf.Tensor, share: tf.Tensor) -> tf.Tensor:
    """What one batch normalisation measured, as it is summed over all parts of a batch.

    Args:
        calls: Of the layer, with this part of the batch.
        centre: The moving mean, shape [channels]: means are measured from it.
        share: Which part of the whole batch this is.

    Returns:
        Shape [calls, 2, channels]: the mean, and that of the squares.
    """
    rows = []
    for mean, variance in calls:
        distance = mean - centre
        rows.append(share * tf.stack([distance, variance + tf.square(distance)]))
    return tf.stack(rows) if rows else tf.zeros([0, 2, *centre.shape])


def change_of_mean(moments: tf.Tensor, momentum: float) -> tf.Tensor:
    """By how much the moving mean moves, once a call.

    Args:
        moments: Of the whole batch, as :func:`contributed_moments` has those of a part.
        momentum: Of the layer.
    """
    moved = tf.zeros(moments.shape[2:])
    for distance, _ in map(tf.unstack, tf.unstack(moments)):
        moved += (1.0 - momentum) * (distance - moved)
    return moved


def next_variance(variance: tf.Tensor, moments: tf.Tensor, momentum: float) -> tf.Tensor:
    """The moving variance after having moved once a call.

    Args:
        variance: Until now.
        moments: Of the whole batch.
        momentum: Of the layer.
    """
    for distance, square in map(tf.unstack, tf.unstack(moments)):
        # From any centre, it is the mean square less the square of the mean.
        whole = tf.maximum(square - tf.square(distance), 0.0)
        variance += (1.0 - momentum) * (whole - variance)
    return variance
