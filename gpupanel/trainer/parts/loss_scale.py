"""A loss that is scaled, so that gradients fit into float16.

Below 6e-8 a number is 0 in float16. So gradients are those of the loss times a power of two, and
are divided by it, which changes no bit, before anything is made of them. Where one is infinite the
scale was too large: that update is left out, and the scale halved; after 2,000 updates in a row it
is doubled (Micikevicius et al. 2018, arXiv:1710.03740; the numbers are Keras's).
"""

import math
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

_FIRST_SCALE = 2.0**15
_UPDATES_UNTIL_DOUBLED = 2_000
_GREATEST_SCALE = 2.0**120
_LEAST_SCALE = 2.0**-14
"""With it a gradient of 1e9 fits into float16."""


class LossScale:
    """Two variables, the same on every replica; make them within the strategy's scope.

    Attributes:
        scale: What the loss is multiplied by: a float32, a power of two.
        updates: How many were made since the scale changed, an int32.
    """

    def __init__(self) -> None:
        self.scale = keras.Variable(_FIRST_SCALE, dtype="float32", trainable=False, name="scale")
        self.updates = keras.Variable(0, dtype="int32", trainable=False, name="updates")

    @property
    def is_spent(self) -> bool:
        """Whether gradients are infinite or NaN however small the loss is: nothing is learned."""
        return float(np.asarray(self.scale.value)) < _LEAST_SCALE

    def applied(
        self,
        strategy: tf.distribute.Strategy,
        weight: tf.Variable,
        gradients: list[tf.Tensor],
        change: Callable[[list[tf.Tensor]], tf.Tensor],
    ) -> tf.Tensor:
        """Have an update made, or left out; within the context of all replicas.

        Args:
            strategy: Of the training.
            weight: One of those that learn: the scale is taken from where it is.
            gradients: Of the scaled loss, of the whole batch: summed over the replicas.
            change: Makes the update with the gradients of the loss itself; gives a float32 scalar.

        Returns:
            What it gave; NaN where the update was left out.
        """
        whole = strategy.extended.update(weight, _unscaled, args=(gradients, self.scale.value))
        finite = strategy.extended.update(weight, _are_finite, args=(gradients,))
        # Every replica has the same sums, and so the same answer.
        is_finite = strategy.experimental_local_results(finite)[0]
        found = tf.cond(is_finite, lambda: change(whole), lambda: tf.constant(math.nan))
        variables = [self.scale.value, self.updates.value]
        strategy.extended.update(variables[0], _follow, args=(variables[1], finite), group=False)
        return found


def _unscaled(_: tf.Variable, gradients: list[tf.Tensor], scale: tf.Variable) -> list[tf.Tensor]:
    inverse = 1.0 / tf.convert_to_tensor(scale)
    whole = []
    for gradient in gradients:
        with tf.device(gradient.device):
            whole.append(gradient * inverse)
    return whole


def _are_finite(_: tf.Variable, gradients: list[tf.Tensor]) -> tf.Tensor:
    finite = []
    for gradient in gradients:
        with tf.device(gradient.device):
            finite.append(tf.reduce_all(tf.math.is_finite(gradient)))
    return tf.reduce_all(tf.stack(finite))


def _follow(scale: tf.Variable, updates: tf.Variable, is_finite: tf.Tensor) -> None:
    """Halve the scale, or count one more update, and double it where there are enough."""
    with tf.device(scale.device):
        now = tf.convert_to_tensor(scale)
        count = tf.where(is_finite, updates + 1, 0)
        is_enough = count >= _UPDATES_UNTIL_DOUBLED
        doubled = tf.where(is_enough, tf.minimum(2.0 * now, _GREATEST_SCALE), now)
        scale.assign(tf.where(is_finite, doubled, 0.5 * now))
        updates.assign(tf.where(is_enough, 0, count))
