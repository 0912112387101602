"""Learning-rate schedules as Keras has them: functions of the step, so that a resumed run goes on.

Where the loss decides, the rate is a number, which the loop changes between epochs.
"""

from typing import Any

import keras

from gpupanel.domain.schedule import RateCurve
from gpupanel.trainer.parts.later_schedule import Onward


def rate_of(curve: RateCurve, begun: int = 0) -> Any:  # noqa: ANN401 - a number or a schedule of Keras's, which has no types
    """What Keras's optimizer takes as its learning rate: the curve as Keras's schedule.

    Args:
        curve: What it is later does not count.
        begun: Updates that were done before the optimizer's first.
    """
    if not curve.falling:
        return curve.rate
    return Onward(_schedule_of(curve), begun) if begun else _schedule_of(curve)


def _schedule_of(curve: RateCurve) -> keras.optimizers.schedules.LearningRateSchedule:
    schedules = keras.optimizers.schedules
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
