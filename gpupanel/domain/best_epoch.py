"""Which epoch of a training is the best one, and whether its weights are the model's."""

import math

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.data_source import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Fix, Problem

LEAST_PROGRESS = 1e-6
"""By how much of itself a loss falls at least for early stopping to see progress. The last bits of
a sum are rounded as its steps were added up, which a run does by time."""


class Keep(ChoiceEnum):
    """Which weights a training gives away: ``model.keras``, exports and the test set have them."""

    BEST = (
        "best",
        "The best epoch's",
        "Those of the epoch that validated best; where nothing is validated, the last ones.",
    )
    LAST = "last", "The last ones", "Those of the last step, however it validated."


class BestMetric(ChoiceEnum):
    """What decides which epoch is the best one."""

    LOSS = "val_loss", "Validation loss", "The least one."
    ACCURACY = "val_accuracy", "Validation accuracy", "The greatest one; of classes and labels."
    ERROR = "val_mean_absolute_error", "Validation error", "The least mean absolute one; of values."

    @property
    def more_is_better(self) -> bool:
        """Whether the best value is the greatest."""
        return self is BestMetric.ACCURACY

    def of(self, metrics: Metrics) -> float | None:
        """Its value among those of an epoch; ``None`` where it was not measured."""
        value: float | None = getattr(metrics, self.value)
        return value

    def is_better(self, value: float | None, best: float | None) -> bool:
        """Whether a value is better than the best one before, by more than rounding.

        Args:
            value: Of an epoch; ``None`` and what is no number are never better.
            best: ``None``: there was none.
        """
        if value is None or not math.isfinite(value):
            return False
        sign = -1.0 if self.more_is_better else 1.0
        return best is None or sign * (best - value) > LEAST_PROGRESS * abs(value)

    def misfit(self, target: Target | None) -> Problem | None:
        """Why it cannot decide; ``None`` where it can, and where nothing is known.

        Args:
            target: What is predicted; ``None``: not known yet.
        """
        if self is BestMetric.LOSS or target is None:
            return None
        if (target is Target.VALUES) == (self is BestMetric.ERROR):
            return None
        predicted = {
            Target.CLASSES: "classes are predicted",
            Target.LABELS: "labels are predicted",
            Target.VALUES: "values are predicted",
        }
        return Problem(
            code="best_metric_not_measured",
            field="training.best_metric",
            message=f"{self.value} cannot decide which epoch is the best: {predicted[target]}, and "
            "it is not measured of them.",
            hint=f'Set training.best_metric to "{BestMetric.LOSS.value}".',
            fix=Fix.of("Decide by the validation loss", "training.best_metric", "val_loss"),
        )
