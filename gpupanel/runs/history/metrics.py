"""What runs measure while they train, by the names that events and tables use."""

from enum import StrEnum


class Metric(StrEnum):
    """One measured quantity of a run, in the order in which people are shown them.

    Those without ``val_`` but the mean absolute error come with steps: means over the examples
    of the steps that one event reports. The others come once an epoch, of the whole set.
    """

    LOSS = "loss"
    VAL_LOSS = "val_loss"
    ACCURACY = "accuracy"
    VAL_ACCURACY = "val_accuracy"
    MEAN_ABSOLUTE_ERROR = "mean_absolute_error"
    VAL_MEAN_ABSOLUTE_ERROR = "val_mean_absolute_error"
    EXAMPLES_PER_SECOND = "examples_per_second"

    @property
    def is_of_epochs(self) -> bool:
        """Whether there is one value an epoch; else one for each report of steps."""
        return self not in STEP_METRICS

    @property
    def more_is_better(self) -> bool:
        """Whether the best value is the greatest; else it is the least."""
        return self in (Metric.ACCURACY, Metric.VAL_ACCURACY, Metric.EXAMPLES_PER_SECOND)


STEP_METRICS = (Metric.LOSS, Metric.ACCURACY, Metric.EXAMPLES_PER_SECOND)
"""Those that steps report."""
EPOCH_METRICS = (
    Metric.VAL_LOSS,
    Metric.VAL_ACCURACY,
    Metric.MEAN_ABSOLUTE_ERROR,
    Metric.VAL_MEAN_ABSOLUTE_ERROR,
)
"""Those that epochs report."""
