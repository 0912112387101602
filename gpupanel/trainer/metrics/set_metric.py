"""What a metric of a set is, to whoever measures one."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.parts.scores import Sums

if TYPE_CHECKING:
    # Whoever adds up arrays needs none.
    import tensorflow as tf


@dataclass(frozen=True, slots=True, eq=False)
class SetPart:
    """Some examples of a set as arrays.

    Attributes:
        outputs: Shape [examples, outputs]: of classes the logarithms of their probabilities; of
            labels numbers that grow with theirs; of values these, float64.
        labels: Of classes their numbers, shape [examples]; of labels whether an example has each,
            of values these, float64, both in the shape of the outputs.
        predicted: Of classes the most probable one, shape [examples]; of labels whether each is
            predicted, shape [examples, labels]; of values the outputs.
    """

    outputs: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    predicted: npt.NDArray[Any]


class SetMetric(Protocol):
    """One metric of a set.

    Attributes:
        size: How many sums it is calculated from inside a graph.
    """

    size: int

    def prepare(self) -> None:
        """Make what sums inside a graph need, in the scope of the strategy."""
        return

    def begin(self) -> None:
        """Another set comes, or the same of another model."""
        return

    def wants_more(self, sums: Sums) -> bool:
        """Whether the set has to be measured once more, and these sums are then nothing.

        The same in every process of a run, since the sums are.
        """
        del sums
        return False

    @abstractmethod
    def sums(self, outputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        """Over these examples inside a graph, shape [size], float32."""

    @abstractmethod
    def of_part(self, part: SetPart) -> Any:  # noqa: ANN401 - sums, or what adds up as they do
        """The same over these examples, float64; parts are added up."""

    @abstractmethod
    def metrics(self, sums: Sums, examples: int) -> Mapping[str, float | None]:
        """Its key in :class:`~gpupanel.domain.outcome.Metrics`, and what it comes to."""

    def metrics_of_parts(self, total: Any, examples: int) -> Mapping[str, float | None]:  # noqa: ANN401
        """The same of all that :meth:`of_part` gave, added up."""
        return self.metrics(total, examples)


def with_set_metrics(measured: Metrics, metrics: Iterable[Mapping[str, float | None]]) -> Metrics:
    """Loss and what is measured with it, and all other metrics of the same set.

    Args:
        measured: Of values the loss is the mean squared error, in their units.
        metrics: By their keys.
    """
    found: dict[str, float | None] = {}
    for metric in metrics:
        found |= metric
    if measured.mean_absolute_error is not None and measured.loss is not None:
        found["root_mean_squared_error"] = math.sqrt(measured.loss)
    return measured.model_copy(update=found)
