"""Keras's optimizers as profiles name them, Adam in one pass over the memory."""

import keras

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
    curve = training.rate_curve(steps_an_epoch, later)
    begun = 0 if later is None else (later.from_epoch - 1) * steps_an_epoch
    # Without a name Keras numbers them through the process, and so what a checkpoint calls them.
    name = training.optimizer.value if later is None else "fine_tuning"
    rate = rate_of(curve.later or curve, begun)
    return made(rate, name=name, **training.optimizer_arguments)
