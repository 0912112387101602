"""What a training loop asks of whatever carries out its steps."""

from collections.abc import Callable, Sequence
from typing import Protocol

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.loop.calls import CallSums
from gpupanel.trainer.loop.order import Parts


class StepCalls(Protocol):
    """Runs several steps in one call.

    Attributes:
        shares: Examples of a full global batch, per replica.
    """

    shares: tuple[int, ...]

    def trace(self) -> None:
        """Build the graph now, so that the first call does not have to."""

    def divide(self, batch_size: int) -> Parts:
        """How a batch of so many examples is divided."""

    def __call__(self, batches: Indices, votes: Sequence[float] = ()) -> CallSums:
        """Do one step for each row, and wait for them.

        Args:
            batches: Example indices, shape [steps, batch]; the batch may be a smaller one.
            votes: Numbers to be summed over the processes of the run.

        Raises:
            ProblemError: An example cannot be read.
        """

    def begin(self, batches: Indices, votes: Sequence[float] = ()) -> Callable[[], CallSums]:
        """Begin one step for each row; what is given back waits for them.

        Args:
            batches: See :meth:`__call__`.
            votes: See :meth:`__call__`.

        Raises:
            ProblemError: An example cannot be read.
        """
