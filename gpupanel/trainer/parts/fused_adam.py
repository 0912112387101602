"""Adam in one pass over the memory.

Keras writes the update of Adam as a dozen operations, each of which reads and writes arrays of the
weight's size: in small networks most of a step. TensorFlow has an operation that does the same
arithmetic at once (``ResourceApplyAdam``). It takes ``1 - beta_2`` in float32, Keras in double
precision: the second moments differ by that rounding, 1.3e-5 of their size, the weights by half of
it of each update. With a beta nearer to 1 that would be more, and Keras's own update is used.
"""

import keras
import tensorflow as tf


class FusedAdam(keras.optimizers.Adam):  # type: ignore[misc]
    """``keras.optimizers.Adam``, the same arithmetic."""

    def update_step(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """See ``keras.optimizers.Adam.update_step``."""
        index = self._get_variable_index(variable)
        slots = [self._momentums[index].value, self._velocities[index].value]
        handles = [variable.handle, *(slot.handle for slot in slots)]
        if self.amsgrad or len({handle.device for handle in handles}) > 1:
            # The operation wants everything on one device.
            super().update_step(gradient, variable, learning_rate)
            return
        step = tf.cast(self.iterations.value + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=handles[0],
            m=handles[1],
            v=handles[2],
            beta1_power=tf.pow(tf.cast(self.beta_1, variable.dtype), step),
            beta2_power=tf.pow(tf.cast(self.beta_2, variable.dtype), step),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.cast(gradient, variable.dtype),
            use_locking=True,
        )


class FusedAdamW(FusedAdam, keras.optimizers.AdamW):  # type: ignore[misc]
    """``keras.optimizers.AdamW``, the same arithmetic."""
