"""Keras's optimizers as profiles name them."""

from typing import assert_never

import keras

from gpupanel.domain.training import Optimizer, TrainingSettings
from gpupanel.trainer.models.fused_adam import FusedAdam, FusedAdamW


def make_optimizer(training: TrainingSettings) -> keras.optimizers.Optimizer:
    """The optimizer; call it within the strategy's scope.

    It does not clip: see :mod:`gpupanel.trainer.loop.update`.
    """
    rate, momentum = training.learning_rate, training.momentum
    # Without a name Keras numbers them through the process, and so what a checkpoint calls them.
    name = training.optimizer.value
    match training.optimizer:
        case Optimizer.ADAM:
            return FusedAdam(rate, name=name)
        case Optimizer.ADAMW:
            return FusedAdamW(rate, name=name)
        case Optimizer.SGD:
            return keras.optimizers.SGD(rate, momentum=momentum, name=name)
        case Optimizer.RMSPROP:
            return keras.optimizers.RMSprop(rate, momentum=momentum, name=name)
    assert_never(training.optimizer)
