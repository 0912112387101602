"""The metrics of validation and test sets: those of the objective, and those of whole sets."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.metrics.areas import GREATEST_ERROR
from gpupanel.trainer.metrics.set_metric import SetMetric, with_set_metrics
from gpupanel.trainer.metrics.set_metrics import set_metrics_of
from gpupanel.trainer.models.objectives import Floats, Objective
from gpupanel.trainer.parts.scores import Sums


class EvaluationObjective:
    """An objective whose metrics have all metrics that fit what is predicted.

    Made in the scope of the strategy. A set is measured by :meth:`begin`, its sums, and
    again its sums as long as these want more.

    Attributes:
        size: See :class:`~gpupanel.trainer.models.objectives.Objective`.
    """

    def __init__(
        self,
        plain: Objective,
        target: Target | None,
        outputs: int,
        units: Floats,
        means: Floats,
        *,
        exact_area: bool = False,
    ) -> None:
        """Measures nothing yet.

        Args:
            plain: What the loss is, and what training measures.
            target: What the labels are; ``None``: arrays, or what a loss of the person's own alone
                knows: no metric of a whole set is of them.
            outputs: How many the model has: one a class, a label or a value.
            units: Standard deviations of values to be predicted, shape [outputs].
            means: Their means, shape [outputs].
            exact_area: The set is measured as often as the AUC is not exact, as far as may be.
        """
        self._plain = plain
        most_error = 0.0 if exact_area else GREATEST_ERROR
        self._set_metrics = tuple(
            set_metrics_of(target, outputs, units, means, most_error=most_error)
        )
        for metric in self._set_metrics:
            metric.prepare()
        self.size = plain.size + sum(metric.size for metric in self._set_metrics)

    def begin(self) -> None:
        """A set is going to be measured."""
        for metric in self._set_metrics:
            metric.begin()

    def wants_more(self, sums: Sequence[float]) -> bool:
        """Whether the same examples have to be measured once more, since a metric is not exact."""
        return any(metric.wants_more(own) for metric, own in self._own_sums(sums))

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """The sums of the plain objective, then a vector for each metric of the set."""
        metrics = (metric.sums(outputs, labels) for metric in self._set_metrics)
        return (*self._plain.sums(outputs, labels), *metrics)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """The metrics of the plain objective, and all known metrics of the set."""
        found = self._plain.metrics(sums[: self._plain.size], examples)
        metrics = (metric.metrics(own, examples) for metric, own in self._own_sums(sums))
        return with_set_metrics(found, metrics)

    def _own_sums(self, sums: Sequence[float]) -> Iterator[tuple[SetMetric, Sums]]:
        """Each metric with its sums."""
        first = self._plain.size
        for metric in self._set_metrics:
            yield metric, np.asarray(sums[first : first + metric.size], np.float64)
            first += metric.size
