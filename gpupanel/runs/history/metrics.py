"""What runs measure while they train, by the names that events and tables use."""

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gpupanel.domain.metric import Metric, Unit
from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.steps_line import STEP_METRICS
from gpupanel.domain.visible_text import visible_beginning

_VALIDATED: Final = {
    "loss": (
        "Validation loss",
        "Val. loss",
        "Mean loss over the validation examples, after each epoch.",
    ),
    "accuracy": (
        "Validation accuracy",
        "Val. acc.",
        "Fraction of validation examples classified correctly, after each epoch.",
    ),
    "mean_absolute_error": (
        "Validation error",
        "Val. error",
        "How far predicted values are from the true ones, over the validation examples.",
    ),
}
"""Title, title of a column and tip of those that are not called as all others are."""


def _all() -> Iterator[Metric]:
    for metric in SET_METRICS.values():
        if metric.name in STEP_METRICS:
            yield STEP_METRICS[metric.name]
        elif metric.name == "mean_absolute_error":
            # The one that training measures over whole epochs.
            tip = "How far predicted values are from the true ones, over each epoch."
            yield replace(metric, tip=tip, column="Error", is_of_epochs=True)
        title, column, tip = _VALIDATED.get(metric.name) or (
            f"Validation: {metric.title}",
            f"Val. {metric.title}",
            f"{metric.tip} Over the validation examples, after each epoch.",
        )
        name = f"val_{metric.name}"
        yield replace(metric, name=name, title=title, column=column, tip=tip, is_of_epochs=True)
    yield from (metric for name, metric in STEP_METRICS.items() if name not in SET_METRICS)


METRICS: Final = MappingProxyType({metric.name: metric for metric in _all()})
"""All by their names, in the order in which people are shown them."""
VALIDATED: Final = "val_"
"""How the names of metrics, and of figures of programs, begin that a validation gives."""
EPOCH_METRICS: Final = tuple(name for name, metric in METRICS.items() if metric.is_of_epochs)
"""The metrics that epochs report."""


def own_metric(name: str) -> Metric:
    """A figure that a program of the person's own reports under that name; see :data:`METRICS`."""
    return Metric(
        visible_beginning(name),
        "A figure that the program reports under this name.",
        Unit.ANY,
        is_of_epochs=name.startswith(VALIDATED),
        name=name,
    )
