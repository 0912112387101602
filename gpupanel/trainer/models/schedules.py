"""Learning-rate schedules as Keras has them: functions of the step, so that a resumed run goes on.

Where the loss decides, the rate is a number, which the loop changes between epochs.
"""

from typing import Any

import keras

from gpupanel.domain.schedule import RateCurve
from gpupanel.domain.training import TrainingSettings


def make_rate(training: TrainingSettings, steps_an_epoch: int) -> Any:  # noqa: ANN401 - a number or a schedule of Keras's, which has no types
    """What Keras's optimizer takes as its learning rate.

    Args:
        training: Has the schedule, the greatest rate and the epochs.
        steps_an_epoch: Optimizer updates of an epoch.
    """
    return rate_of(training.rate_curve(steps_an_epoch))


def rate_of(curve: RateCurve) -> Any:  # noqa: ANN401 - a number or a schedule of Keras's, which has no types
    """The curve as Keras's schedule."""
    schedules = keras.optimizers.schedules
    if not curve.falling:
        return curve.rate
    if curve.factor is not None:
        return schedules.ExponentialDecay(
            curve.rate, curve.falling, curve.factor, staircase=curve.at_once
        )
    if not curve.rising:
        return schedules.CosineDecay(curve.rate, curve.falling, alpha=curve.least)
    return schedules.CosineDecay(
        curve.rate * curve.begins_at,
        curve.falling,
        alpha=curve.least,
        warmup_target=curve.rate,
        warmup_steps=curve.rising,
    )
