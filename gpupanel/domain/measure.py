"""What is measured of a model beside its loss: its names, for whom it is, and how it is shown."""

from enum import Enum
from typing import Self


class Measure(Enum):
    """One figure of a model, in the order in which people are shown them.

    The value of a member is its key in events and tables
    (:class:`~gpupanel.domain.outcome.Metrics`), where ``val_`` and ``test_`` may stand before it.

    Attributes:
        title: In tables and plots.
        tip: What it says of a model.
        is_fraction: From 0 to 1, shown in percent.
        more_is_better: Whether a greater one is better.
    """

    title: str
    tip: str
    is_fraction: bool
    more_is_better: bool

    ACCURACY = (
        "accuracy",
        "Accuracy",
        "Fraction of examples classified correctly; of several labels, of the labels.",
        True,
        True,
    )
    TOP_5_ACCURACY = (
        "top_5_accuracy",
        "Top-5 accuracy",
        "Fraction of examples whose class is among the five most probable ones.",
        True,
        True,
    )
    F1 = (
        "f1",
        "F1",
        "Harmonic mean of precision and recall of each class or label; the mean over them.",
        True,
        True,
    )
    AUC = (
        "auc",
        "AUC",
        (
            "Area under the ROC curve, of two classes or of each label; 50 % is chance. During "
            "training at most 0.2 percentage points off."
        ),
        True,
        True,
    )
    MEAN_ABSOLUTE_ERROR = (
        "mean_absolute_error",
        "Mean absolute error",
        "How far predicted values are from the true ones, in their units.",
        False,
        False,
    )
    ROOT_MEAN_SQUARED_ERROR = (
        "root_mean_squared_error",
        "RMSE",
        "Root of the mean squared error of predicted values, in their units.",
        False,
        False,
    )
    R2 = (
        "r2",
        "R²",
        "Fraction of the variance of values that is predicted: 1 is all of it, 0 their mean only.",
        False,
        True,
    )

    def __new__(
        cls,
        key: str,
        title: str,
        tip: str,
        is_fraction: bool,  # noqa: FBT001
        more_is_better: bool,  # noqa: FBT001
    ) -> Self:
        """A member with its traits."""
        measure = object.__new__(cls)
        measure._value_ = key
        measure.title = title
        measure.tip = tip
        measure.is_fraction = is_fraction
        measure.more_is_better = more_is_better
        return measure
