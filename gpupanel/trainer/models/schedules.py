"""Learning-rate schedules as Keras has them: functions of the step, so that a resumed run goes on.

Where the loss decides, the rate is a number, which the loop changes between epochs.
"""

from typing import Any

import keras
import tensorflow as tf
from typing_extensions import override

from gpupanel.domain.schedule import RateCurve


class Onward(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]
    """A schedule that goes on at its place with an optimizer whose steps begin anew."""

    def __init__(self, schedule: keras.optimizers.schedules.LearningRateSchedule, by: int) -> None:
        """Changes nothing of the schedule.

        Args:
            schedule: From the beginning of the training.
            by: Updates that were done before the optimizer's first.
        """
        self._schedule = schedule
        self._by = by

    @override
    def __call__(self, step: keras.Variable) -> tf.Tensor:
        """The rate of the update after so many of the optimizer."""
        return self._schedule(step + self._by)

    @override
    def get_config(self) -> dict[str, object]:
        """What it was made with."""
        return {"schedule": self._schedule, "by": self._by}


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
