"""What is measured of validation and test sets: an objective, and figures beside it."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.measures.areas import GREATEST_ERROR
from gpupanel.trainer.measures.figures import Sums, with_figures
from gpupanel.trainer.measures.set_figure import SetFigure
from gpupanel.trainer.measures.set_figures import figures_of
from gpupanel.trainer.models.objectives import Floats, Objective


class MeasuredObjective:
    """An objective whose metrics have all figures that fit what is predicted.

    Made in the scope of the strategy. A set is measured by :meth:`begin`, its sums, and
    again its sums as long as these want more.

    Attributes:
        size: See :class:`~gpupanel.trainer.models.objectives.Objective`.
    """

    def __init__(
        self,
        plain: Objective,
        target: Target,
        outputs: int,
        units: Floats,
        means: Floats,
        *,
        exact_area: bool = False,
    ) -> None:
        """Measures nothing yet.

        Args:
            plain: What the loss is, and what training measures.
            target: What the labels are.
            outputs: How many the model has: one a class, a label or a value.
            units: Standard deviations of values to be predicted, shape [outputs].
            means: Likewise.
            exact_area: The set is measured as often as the AUC is not exact, as far as may be.
        """
        self._plain = plain
        most_error = 0.0 if exact_area else GREATEST_ERROR
        self._figures = tuple(figures_of(target, outputs, units, means, most_error=most_error))
        for figure in self._figures:
            figure.prepare()
        self.size = plain.size + sum(figure.size for figure in self._figures)

    def begin(self) -> None:
        """A set is going to be measured."""
        for figure in self._figures:
            figure.begin()

    def wants_more(self, sums: Sequence[float]) -> bool:
        """Whether the same examples have to be measured once more, since a figure is not exact."""
        return any(figure.wants_more(own) for figure, own in self._own_sums(sums))

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Those of the plain objective, then vectors."""
        figures = (figure.sums(outputs, labels) for figure in self._figures)
        return (*self._plain.sums(outputs, labels), *figures)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Those of the plain objective, and all figures that are known."""
        found = self._plain.metrics(sums[: self._plain.size], examples)
        figures = (figure.metrics(own, examples) for figure, own in self._own_sums(sums))
        return with_figures(found, figures)

    def _own_sums(self, sums: Sequence[float]) -> Iterator[tuple[SetFigure, Sums]]:
        """Each figure with its sums."""
        first = self._plain.size
        for figure in self._figures:
            yield figure, np.asarray(sums[first : first + figure.size], np.float64)
            first += figure.size
