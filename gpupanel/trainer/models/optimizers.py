"""Keras's optimizers as profiles name them, and Adam in one pass over the memory.

Keras writes the update of Adam as a dozen operations, each of which reads and writes arrays of the
weight's size: in small networks most of a step. TensorFlow has an operation that does the same
arithmetic at once (``ResourceApplyAdam``). It takes ``1 - beta_2`` in float32, Keras in double
precision: the second moments differ by that rounding, 1.3e-5 of their size, the weights by half of
it of each update. With a beta nearer to 1 that would be more, and Keras's own update is used.
"""

import keras
import tensorflow as tf
from typing_extensions import override

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.models.schedules import rate_of


class _Fused(keras.optimizers.Adam):  # type: ignore[misc]
    """The update itself."""

    @override
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


class FusedAdam(_Fused):
    """``keras.optimizers.Adam``, the same arithmetic."""


class FusedAdamW(_Fused, keras.optimizers.AdamW):  # type: ignore[misc]
    """``keras.optimizers.AdamW``, the same arithmetic."""


FUSED = {"Adam": FusedAdam, "AdamW": FusedAdamW}
"""Fused optimizers by the names of Keras's classes."""


def make_optimizer(
    training: TrainingSettings, steps_an_epoch: int = 1, later: FineTuning | None = None
) -> keras.optimizers.Optimizer:
    """The optimizer; call it within the strategy's scope.

    It does not clip: see :mod:`gpupanel.trainer.steps.update`.

    Args:
        training: Which, with what it takes.
        steps_an_epoch: Updates of an epoch, which a schedule of the learning rate counts by.
        later: It is for the layers that learn from a later epoch on; ``None``: from the first one
            on.
    """
    label = training.optimizer.label
    made = FUSED[label] if training.is_fused else getattr(keras.optimizers, label)
    curve = training.rate_curve(steps_an_epoch, later)
    begun = 0 if later is None else (later.from_epoch - 1) * steps_an_epoch
    # Without a name Keras numbers them through the process, and so what a checkpoint calls them.
    name = training.optimizer.value if later is None else "fine_tuning"
    rate = rate_of(curve.later or curve, begun)
    return made(rate, name=name, **training.optimizer_arguments)
