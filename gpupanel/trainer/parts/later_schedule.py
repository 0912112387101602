"""A learning-rate schedule that goes on with an optimizer which begins later."""

import keras
import tensorflow as tf


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

    def __call__(self, step: keras.Variable) -> tf.Tensor:
        """The rate of the update after so many of the optimizer."""
        return self._schedule(step + self._by)

    def get_config(self) -> dict[str, object]:
        """What it was made with."""
        return {"schedule": self._schedule, "by": self._by}
