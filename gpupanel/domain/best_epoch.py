"""Which epoch of a training is the best one, and whether its weights are the model's."""

import math
from typing import Final

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.data_source import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Fix, Problem

LEAST_PROGRESS = 1e-6
"""By how much of itself a metric gets better at least, for early stopping, too. The last bits of
a sum are rounded as its steps were added up, which a run does by time."""


class Keep(ChoiceEnum):
    """Which weights a training gives away: ``model.keras``, exports and the test set have them."""

    BEST = (
        "best",
        "The best epoch's",
        "Those of the epoch that validated best; where nothing is validated, the last ones.",
    )
    LAST = "last", "The last ones", "Those of the last step, however it validated."


MOST_COUNTED: Final = 1000
"""Of which the F1 of each is counted, and of as many values R²: three numbers of each are summed
over the replicas."""
MOST_AREAS: Final = 100
"""The most labels that the AUC is measured of: each has bins that the replicas sum."""


class BestMetric(ChoiceEnum):
    """What decides which epoch is the best one."""

    LOSS = "val_loss", "Validation loss", "The least one."
    ACCURACY = "val_accuracy", "Validation accuracy", "The greatest one; of classes and labels."
    F1 = (
        "val_f1",
        "Validation F1",
        "The greatest mean over the classes or labels (macro), of at most 1,000.",
    )
    AUC = (
        "val_auc",
        "Validation AUC",
        (
            "The greatest one, of two classes or at most 100 labels. It is measured exactly then: "
            "the validation examples may be gone through several times."
        ),
    )
    ERROR = "val_mean_absolute_error", "Validation error", "The least mean absolute one; of values."
    R2 = "val_r2", "Validation R²", "The greatest one; of at most 1,000 values."

    @property
    def more_is_better(self) -> bool:
        """Whether the best value is the greatest."""
        return self not in (BestMetric.LOSS, BestMetric.ERROR)

    @property
    def is_set_metric(self) -> bool:
        """Whether it is calculated of a whole set, and not a mean over its examples."""
        return self in (BestMetric.F1, BestMetric.AUC, BestMetric.R2)

    def of(self, metrics: Metrics) -> float | None:
        """The metric's value in an epoch's metrics; ``None`` where it was not measured."""
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

    def misfit(self, target: Target | None, outputs: int | None = None) -> Problem | None:
        """Why it cannot decide; ``None`` where it can, and where nothing is known.

        Args:
            target: What is predicted; ``None``: not known yet.
            outputs: How many classes, labels or values there are; ``None``: not known yet.
        """
        if self is BestMetric.LOSS or target is None:
            return None
        of_values = target is Target.VALUES
        if of_values != (self in (BestMetric.ERROR, BestMetric.R2)):
            return self._not_measured(
                f"{target.value} are predicted, and it is not measured of them"
            )
        if outputs is None or not self.is_set_metric:
            return None
        if self is BestMetric.AUC and target is Target.CLASSES and outputs != 2:
            return self._not_measured(f"there are {outputs:,} classes, and it is of two")
        most = MOST_AREAS if self is BestMetric.AUC else MOST_COUNTED
        if outputs > most:
            return self._not_measured(
                f"there are {outputs:,} {target.value}, and it is measured of at most {most:,}"
            )
        return None

    def misfit_of_arrays(self, target: Target | None) -> Problem | None:
        """Why it cannot decide where an example has an array of these; ``None`` where it can.

        Args:
            target: What each place of it is; ``None``: there are several outputs.
        """
        if target is None:
            is_whole = self is BestMetric.LOSS
            return None if is_whole else self._not_measured("there are several outputs")
        if self.is_set_metric:
            return self._not_measured("the labels are arrays, and it is measured of one an example")
        return self.misfit(target)

    def misfit_of_own_loss(self) -> Problem | None:
        """Why it cannot decide beside a loss of the person's own; ``None`` where it can."""
        if self is BestMetric.LOSS:
            return None
        return self._not_measured("what the outputs mean is known to your own loss alone")

    def unmeasurable(self) -> Problem:
        """The problem of validation examples whose labels are all alike."""
        return self._not_measured("all validation examples have the same labels")

    def _not_measured(self, why: str) -> Problem:
        return Problem(
            code="best_metric_not_measured",
            field="training.best_metric",
            message=f"{self.value} cannot decide which epoch is the best: {why}.",
            hint=f'Set training.best_metric to "{BestMetric.LOSS.value}".',
            fix=Fix.of("Decide by the validation loss", "training.best_metric", "val_loss"),
        )
