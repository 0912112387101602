"""Losses and what is measured beside them, as sums over examples.

Any split of a batch adds up to the whole. Each function gives float32 scalars: the loss that is
differentiated, then the measures.
"""

import numpy as np
import numpy.typing as npt
import tensorflow as tf

Weights = npt.NDArray[np.float32]

LEAST_WRONG = 1e-7
"""Of what a focal loss is multiplied by before it is raised to its power: the gradient of a power
below 1 is infinite at 0."""


def class_loss(
    outputs: tf.Tensor, labels: tf.Tensor, weights: Weights | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Cross-entropy of the logits, in nats, and how many examples are right.

    Args:
        outputs: Shape [n, classes].
        labels: Class numbers, shape [n]; or of blended examples shares of each class, [n, classes].
        weights: What the loss of an example of each class counts, shape [classes]; ``None``: 1.
    """
    if labels.shape.rank == 2:
        right = tf.gather(labels, tf.argmax(outputs, axis=1), batch_dims=1)
        weighted = labels if weights is None else labels * weights
        losses = -weighted * tf.cast(tf.nn.log_softmax(outputs), tf.float32)
        return tf.reduce_sum(losses), tf.reduce_sum(right)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
    if weights is not None:
        losses *= tf.cast(tf.gather(weights, labels), losses.dtype)
    right = tf.equal(tf.argmax(outputs, axis=1, output_type=labels.dtype), labels)
    return tf.reduce_sum(losses), tf.reduce_sum(tf.cast(right, tf.float32))


def labels_loss(outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Cross-entropy of each label's logit, in nats, and how many labels are right.

    Both are means over the labels, as Keras's ``BinaryCrossentropy`` and ``BinaryAccuracy`` are.

    Args:
        outputs: Shape [n, labels], or [n, ...]: arrays with a label at each place.
        labels: 0 or 1, as many.
    """
    labels = tf.reshape(labels, tf.shape(outputs))
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
    right = tf.equal(outputs > 0.0, labels > 0.5)
    return sum_over_places(losses), sum_over_places(right)


def places_class_loss(outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Cross-entropy of the logits of each place, in nats, and how many places are right.

    Args:
        outputs: Shape [n, ..., classes].
        labels: Class numbers, shape [n, ...].
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
    right = tf.equal(tf.argmax(outputs, axis=-1, output_type=labels.dtype), labels)
    return sum_over_places(losses), sum_over_places(right)


def places_value_loss(
    outputs: tf.Tensor, labels: tf.Tensor, unit: float
) -> tuple[tf.Tensor, tf.Tensor]:
    """Squared and absolute error of each place, both in the labels' own unit.

    Args:
        outputs: Shape [n, ...].
        labels: As many numbers.
        unit: What these are multiplied by first.
    """
    wanted = tf.cast(tf.reshape(labels, tf.shape(outputs)), tf.float32) * unit
    error = outputs - wanted
    return sum_over_places(tf.square(error)), sum_over_places(tf.abs(error))


def sum_over_places(of_places: tf.Tensor) -> tf.Tensor:
    """The sum over the examples of the means over their places: each example counts the same."""
    numbers = tf.cast(of_places, tf.float32)
    return tf.reduce_sum(tf.reduce_mean(numbers, axis=list(range(1, numbers.shape.rank))))


def value_loss(
    outputs: tf.Tensor, labels: tf.Tensor, unit: float, mean: float
) -> tuple[tf.Tensor, tf.Tensor]:
    """Squared and absolute error of one value, both in standard deviations.

    So one learning rate does for house prices and for degrees.

    Args:
        outputs: Shape [n, 1].
        labels: Shape [n].
        unit: The standard deviation of the training labels.
        mean: Theirs.
    """
    error = outputs[:, 0] - (labels - mean) / unit
    return tf.reduce_sum(tf.square(error)), tf.reduce_sum(tf.abs(error))


def values_loss(
    outputs: tf.Tensor, labels: tf.Tensor, units: Weights, means: Weights
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Squared and absolute error of several values, each a mean over them.

    The squared error that is differentiated is counted in standard deviations, so that no value
    outweighs another by its unit; then come the squared and the absolute one in their own units.

    Args:
        outputs: Shape [n, values].
        labels: Shape [n, values].
        units: Standard deviations of the training labels, shape [values].
        means: Means of the training labels, shape [values].
    """
    error = outputs - (labels - means) / units
    own = error * units
    loss, square, absolute = (
        tf.reduce_sum(tf.reduce_mean(each, axis=1))
        for each in (tf.square(error), tf.square(own), tf.abs(own))
    )
    return loss, square, absolute


def changed_class_loss(
    outputs: tf.Tensor,
    labels: tf.Tensor,
    focal_power: float,
    smoothing: float,
    weights: Weights | None = None,
) -> tf.Tensor:
    """As Keras's ``CategoricalFocalCrossentropy`` with ``alpha=1``, of the logits.

    Args:
        outputs: See :func:`class_loss`.
        labels: See :func:`class_loss`.
        focal_power: By which examples that are right already count less; 0: all count alike.
        smoothing: Which part of each label is spread over all classes.
        weights: See :func:`class_loss`.
    """
    outputs = tf.cast(outputs, tf.float32)
    shares = labels if labels.shape.rank == 2 else tf.one_hot(labels, outputs.shape[1])
    if weights is not None:
        shares *= weights
    logarithms = tf.nn.log_softmax(outputs)
    if focal_power:
        wrong = tf.maximum(1.0 - tf.exp(logarithms), LEAST_WRONG)
        logarithms *= tf.pow(wrong, focal_power)
    if smoothing:
        mean = tf.reduce_mean(logarithms, axis=1, keepdims=True)
        logarithms += smoothing * (mean - logarithms)
    return -tf.reduce_sum(shares * logarithms)


def changed_labels_loss(
    outputs: tf.Tensor, labels: tf.Tensor, focal_power: float, smoothing: float
) -> tf.Tensor:
    """As Keras's ``BinaryFocalCrossentropy``, of the logits.

    Args:
        outputs: See :func:`labels_loss`.
        labels: See :func:`labels_loss`.
        focal_power: See :func:`changed_class_loss`.
        smoothing: See :func:`changed_class_loss`.
    """
    outputs = tf.cast(outputs, tf.float32)
    labels += smoothing * (0.5 - labels)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
    if focal_power:
        said = tf.sigmoid(outputs)
        right = labels * said + (1.0 - labels) * (1.0 - said)
        losses *= tf.pow(tf.maximum(1.0 - right, LEAST_WRONG), focal_power)
    return tf.reduce_sum(tf.reduce_mean(losses, axis=1))


def balanced_weights(labels: npt.NDArray[np.generic], class_count: int) -> Weights:
    """What each class counts so that all count the same: 1 on the average over the examples.

    As scikit-learn's ``class_weight="balanced"`` has it, over the classes that there are.

    Args:
        labels: Of the training examples, shape [examples].
        class_count: How many classes the model distinguishes.
    """
    counts = np.bincount(labels, minlength=class_count)
    weights = len(labels) / (np.count_nonzero(counts) * np.maximum(counts, 1))
    return np.asarray(weights, np.float32)
