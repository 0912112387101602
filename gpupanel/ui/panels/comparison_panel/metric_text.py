"""What people read about each metric of a comparison."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpupanel.domain.measure import Measure
from gpupanel.runs.history.metrics import Metric
from gpupanel.ui import formatting


@dataclass(frozen=True, slots=True)
class MetricText:
    """One metric in the window.

    Attributes:
        title: Of its plot.
        column: Of its column in the legend.
        tip: What it shows, for those who see it the first time.
        text: A value of the plot, in words.
        widest: The widest such text.
        scale: What a measured value is multiplied with to be drawn: 100 for percent.
        bounds: What the axis never leaves.
        can_be_log: It is above 0 and of any size.
    """

    title: str
    column: str
    tip: str
    text: Callable[[float | None], str]
    widest: str
    scale: float = 1.0
    bounds: tuple[float, float] = (0.0, float("inf"))
    can_be_log: bool = False


def _percent(value: float | None) -> str:
    return formatting.fraction(None if value is None else value / 100.0)


def _share(title: str, column: str, tip: str) -> MetricText:
    return MetricText(f"{title}, %", column, tip, _percent, "100.0 %", 100.0, (0.0, 100.0))


def _number(title: str, column: str, tip: str) -> MetricText:
    return MetricText(title, column, tip, formatting.number, "0.0e-00", can_be_log=True)


def _of_validation(measure: Measure) -> MetricText:
    """A measure of the validation examples."""
    make = _share if measure.is_fraction else _number
    words = make(
        f"Validation: {measure.title}",
        f"Val. {measure.title}",
        f"{measure.tip} Over the validation examples, after each epoch.",
    )
    # It may be below 0 without end.
    if measure is Measure.R2:
        return replace(words, bounds=(float("-inf"), 1.0), can_be_log=False)
    return words


WORDS = {
    **{
        metric: _of_validation(metric.measure)
        for metric in Metric
        if metric.startswith("val_") and metric.measure is not None
    },
    Metric.LOSS: _number(
        "Loss", "Loss", "Mean loss over the training examples of the steps reported."
    ),
    Metric.VAL_LOSS: _number(
        "Validation loss", "Val. loss", "Mean loss over the validation examples, after each epoch."
    ),
    Metric.ACCURACY: _share(
        "Accuracy",
        "Accuracy",
        "Fraction of training examples classified correctly in the reported steps.",
    ),
    Metric.VAL_ACCURACY: _share(
        "Validation accuracy",
        "Val. acc.",
        "Fraction of validation examples classified correctly, after each epoch.",
    ),
    Metric.MEAN_ABSOLUTE_ERROR: _number(
        "Mean absolute error",
        "Error",
        "How far predicted values are from the true ones, over each epoch.",
    ),
    Metric.VAL_MEAN_ABSOLUTE_ERROR: _number(
        "Validation error",
        "Val. error",
        "How far predicted values are from the true ones, over the validation examples.",
    ),
    Metric.EXAMPLES_PER_SECOND: MetricText(
        "Examples per second",
        "Speed",
        "Training only: validation and start-up are not counted.",
        formatting.rate,
        "9,999,999 ex/s",
    ),
    Metric.LEARNING_RATE: _number(
        "Learning rate",
        "Learning rate",
        "Of the last update of each report, as the schedule has it.",
    ),
    Metric.GRADIENT_NORM: _number(
        "Gradient norm",
        "Gradient norm",
        "Global norm of the gradient of the whole batch before it is clipped: mean over the steps "
        "of each report.",
    ),
    Metric.WAITING_FOR_DATA: _share(
        "Waiting for data",
        "Waiting",
        "Percent of the last ten seconds of training in which steps waited for examples.",
    ),
}
