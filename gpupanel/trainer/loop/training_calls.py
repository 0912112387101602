"""Training steps, whatever number of micro-batches a batch is taken in."""

from collections.abc import Callable

from gpupanel.trainer.loop.step_calls import StepCalls


class TrainingCalls:
    """Gives the calls that train on a batch; those of a smaller last one are made when it comes.

    The number of micro-batches is part of the graph: another number is another trace.
    """

    def __init__(self, make: Callable[[int], StepCalls], accumulation_steps: int) -> None:
        """Nothing is traced yet.

        Args:
            make: From a number of micro-batches to the calls that take it.
            accumulation_steps: Micro-batches of a full batch.
        """
        self._make = make
        self._full = make(accumulation_steps)
        self._made = {accumulation_steps: self._full}

    @property
    def shares(self) -> tuple[int, ...]:
        """Examples of a full global batch, per replica."""
        return self._full.shares

    @shares.setter
    def shares(self, shares: tuple[int, ...]) -> None:
        for calls in self._made.values():
            calls.shares = shares

    def trace(self) -> None:
        """Build the graph of full batches now, so that the first call does not have to."""
        self._full.trace()

    def of(self, batch_size: int) -> StepCalls:
        """The calls for batches of so many examples."""
        micro_batches = self._full.divide(batch_size).micro_batches
        if micro_batches not in self._made:
            made = self._make(micro_batches)
            made.shares = self.shares
            self._made[micro_batches] = made
        return self._made[micro_batches]
