"""The norm of a whole gradient, and what brings it down to the greatest that is wanted."""

import tensorflow as tf


def clipping_scale(norm: tf.Tensor, clip_norm: float) -> tf.Tensor:
    """What a gradient is multiplied by so that its global norm is at most ``clip_norm``.

    A gradient that is not finite stays so: it is found and reported, not hidden.
    """
    return clip_norm / tf.maximum(norm, clip_norm)


def global_norm(gradients: list[tf.Tensor]) -> tf.Tensor:
    """The norm of all of these together, a float32 scalar; 0 of none.

    Each is squared where it is: only numbers leave its device.
    """
    if not gradients:
        return tf.zeros([])
    squares = []
    for gradient in gradients:
        with tf.device(gradient.device):
            squares.append(tf.reduce_sum(tf.square(gradient)))
    return tf.sqrt(tf.add_n(squares))
