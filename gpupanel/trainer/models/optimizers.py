"""Keras's optimizers as profiles name them, Adam in one pass over the memory."""

from typing import Any

import keras
import tensorflow as tf

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.models.schedules import rate_of
from gpupanel.trainer.parts.fused_adam import FusedAdam, FusedAdamW

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
    # Without a name Keras numbers them through the process, and so what a checkpoint calls them.
    name = training.optimizer.value if later is None else "fine_tuning"
    rate = learning_rate_of(training, steps_an_epoch, later)
    return made(rate, name=name, **training.optimizer_arguments)


def learning_rate_of(
    training: TrainingSettings, steps_an_epoch: int, later: FineTuning | None
) -> Any:  # noqa: ANN401 - a number or a schedule of Keras's, which has no types
    """What :func:`make_optimizer`, whose arguments these are, gives the optimizer as its rate."""
    curve = training.rate_curve(steps_an_epoch, later)
    begun = 0 if later is None else (later.from_epoch - 1) * steps_an_epoch
    return rate_of(curve.later or curve, begun)


def decay_of(
    optimizer: keras.optimizers.Optimizer, weight: tf.Tensor, rate: tf.Tensor
) -> tf.Tensor:
    """By how much a weight, or a piece of one, decays; the optimizer has a weight decay."""
    return _by_itself(weight * optimizer.weight_decay) * rate


def clipped(gradient: tf.Tensor, scale: tf.Tensor | None) -> tf.Tensor:
    """The gradient times that scale; ``None``: as it is."""
    return gradient if scale is None else _by_itself(gradient * scale)


def _by_itself(product: tf.Tensor) -> tf.Tensor:
    """The same, as a factor that TensorFlow's graph optimizer takes as it is.

    It would multiply the scalars of several factors first, unless it fails to find their shapes;
    and those of a single number in the order of their names, so that replicas came to other last
    bits.
    """
    return tf.raw_ops.Snapshot(input=product)
