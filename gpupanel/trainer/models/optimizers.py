"""Keras's optimizers as profiles name them."""

from typing import assert_never

import keras

from gpupanel.domain.training import Optimizer, TrainingSettings


def make_optimizer(training: TrainingSettings) -> keras.optimizers.Optimizer:
    """The optimizer; call it within the strategy's scope."""
    rate, momentum = training.learning_rate, training.momentum
    match training.optimizer:
        case Optimizer.ADAM:
            return keras.optimizers.Adam(rate)
        case Optimizer.ADAMW:
            return keras.optimizers.AdamW(rate)
        case Optimizer.SGD:
            return keras.optimizers.SGD(rate, momentum=momentum)
        case Optimizer.RMSPROP:
            return keras.optimizers.RMSprop(rate, momentum=momentum)
    assert_never(training.optimizer)
