"""What runs measure while they train, by the names that events and tables use."""

from enum import StrEnum

from gpupanel.domain.measure import Measure


class Metric(StrEnum):
    """One measured quantity of a run, in the order in which people are shown them.

    Those without ``val_`` but the mean absolute error come with steps: means over the examples
    of the steps that one event reports; the gradient norm is a mean over these steps, the learning
    rate that of the last of them, the waiting that of the last seconds. The others come once an
    epoch, of the whole set.
    """

    LOSS = "loss"
    VAL_LOSS = "val_loss"
    ACCURACY = "accuracy"
    VAL_ACCURACY = "val_accuracy"
    VAL_TOP_5_ACCURACY = "val_top_5_accuracy"
    VAL_F1 = "val_f1"
    VAL_AUC = "val_auc"
    MEAN_ABSOLUTE_ERROR = "mean_absolute_error"
    VAL_MEAN_ABSOLUTE_ERROR = "val_mean_absolute_error"
    VAL_ROOT_MEAN_SQUARED_ERROR = "val_root_mean_squared_error"
    VAL_R2 = "val_r2"
    EXAMPLES_PER_SECOND = "examples_per_second"
    LEARNING_RATE = "learning_rate"
    GRADIENT_NORM = "gradient_norm"
    WAITING_FOR_DATA = "waiting_for_data"

    @property
    def is_of_epochs(self) -> bool:
        """Whether there is one value an epoch; else one for each report of steps."""
        return self not in STEP_METRICS

    @property
    def is_of_model(self) -> bool:
        """Whether it says how good the model is; else how it was trained."""
        return self not in TRAINING_METRICS

    @property
    def more_is_better(self) -> bool:
        """Whether the best value is the greatest; else it is the least."""
        measure = self.measure
        return self is Metric.EXAMPLES_PER_SECOND if measure is None else measure.more_is_better

    @property
    def measure(self) -> Measure | None:
        """What of a model it is, of whichever set; ``None``: the loss, or a speed."""
        key = self.removeprefix("val_")
        return next((each for each in Measure if each.value == key), None)


TRAINING_METRICS = (
    Metric.EXAMPLES_PER_SECOND,
    Metric.LEARNING_RATE,
    Metric.GRADIENT_NORM,
    Metric.WAITING_FOR_DATA,
)
"""Those that say how a model was trained."""
STEP_METRICS = (Metric.LOSS, Metric.ACCURACY, *TRAINING_METRICS)
"""Those that steps report."""
EPOCH_METRICS = tuple(metric for metric in Metric if metric not in STEP_METRICS)
"""Those that epochs report."""
