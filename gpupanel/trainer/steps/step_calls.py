"""The calls that do steps: what a loop asks of them, and what one call did."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import tensorflow as tf

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.batch_division import Parts
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.replica_sums import ReplicaSums

ReplicaStep = Callable[[tf.Tensor, tf.Tensor, BatchPart], ReplicaSums]
"""From the features and labels of a replica's part, and which part it is, to the sums of it."""

VOTE_NUMBERS = 6
"""How many numbers every process hands in with a call."""

Wait = Callable[[], "CallSums"]
"""Waits for a call that was launched; any thread may."""
Launch = Callable[[float], Wait]
"""Launches a call whose examples are there, on any thread, in the order of the calls. It is told
for how many seconds nothing was computed: as far as these were spent on reading, steps waited."""


@dataclass(frozen=True, slots=True)
class CallSums:
    """What one call did, over all its steps and replicas.

    Attributes:
        sums: Of loss and metrics, as :class:`~gpupanel.trainer.models.objectives.Objective` counts
            them.
        steps: Steps done, up to the first one whose loss is not finite: what comes after it was
            done, too, and counts for nothing.
        votes: What the processes of the run handed in, summed: the same on each of them.
        replica_seconds: How long each replica of the run computed, waiting not counted; empty
            where it is not measured.
        waited_s: How long the steps had to wait for their examples.
        replica_waits: The same of each replica of the run, by its process.
        of_updates: Each of :data:`~gpupanel.trainer.steps.update.UPDATE_METRICS`, summed over the
            steps; 0 where nothing learned.
    """

    sums: tuple[float, ...]
    steps: int
    votes: tuple[float, ...] = (0.0,) * VOTE_NUMBERS
    replica_seconds: tuple[float, ...] = ()
    waited_s: float = 0.0
    replica_waits: tuple[float, ...] = ()
    of_updates: Mapping[str, float] = field(default_factory=dict)

    @property
    def loss_sum(self) -> float:
        """The sum of losses; not finite if the last step that counts has such a loss."""
        return self.sums[0]


class StepCalls(ABC):
    """Runs several steps in one call.

    Attributes:
        shares: Examples of a full global batch, per replica.
    """

    shares: tuple[int, ...]

    @abstractmethod
    def trace(self) -> None:
        """Build the graph now, so that the first call does not have to."""

    @abstractmethod
    def divide(self, batch_size: int) -> Parts:
        """How a batch of so many examples is divided."""

    @abstractmethod
    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        """Make ready what the coming steps take, instead of what was expected before.

        Args:
            order: Their examples, shape [examples].
            batch_size: Examples of a step; the last one may have fewer.
            then: Those of the first steps of the epoch after this; ``None``: nobody knows.
        """

    @abstractmethod
    def most_steps(self, batch_size: int) -> int | None:
        """How many steps one call may take, by what it carries; ``None``: any number.

        The same in every process of the run.

        Args:
            batch_size: Examples of a step, of all replicas together.
        """

    @abstractmethod
    def close(self) -> None:
        """Make nothing ready any more."""

    def __call__(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
    ) -> CallSums:
        """Do one step for each row, and wait for them: see :meth:`prepare`."""
        return self.prepare(batches, votes, place=place, first_step=first_step)(math.inf)()

    @abstractmethod
    def prepare(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
    ) -> Launch:
        """Read one step for each row, and copy it to where it is computed.

        Calls that were launched before may still be under way.

        Args:
            batches: Example indices, shape [steps, batch]; the batch may be a smaller one.
            votes: At most :data:`VOTE_NUMBERS` numbers, summed over the processes of the run.
            place: Of the first example among those of the epoch.
            first_step: The number of the first step in the run, counted from 0: what layers draw
                depends on it.

        Raises:
            ProblemError: An example cannot be read.
        """


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
        self._accumulation_steps = accumulation_steps
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

    def renew(self) -> None:
        """Trace anew what is called next: something else of the graph is another."""
        shares, self._made = self.shares, {}
        self._full = self._made[self._accumulation_steps] = self._make(self._accumulation_steps)
        self.shares = shares

    def trace(self) -> None:
        """Build the graph of full batches now, so that the first call does not have to."""
        self._full.trace()

    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        """See :meth:`StepCalls.expect`."""
        self._full.expect(order, batch_size, then)

    def most_steps(self, batch_size: int) -> int | None:
        """See :meth:`StepCalls.most_steps`."""
        return self._full.most_steps(batch_size)

    def close(self) -> None:
        """See :meth:`StepCalls.close`."""
        self._full.close()

    def of(self, batch_size: int) -> StepCalls:
        """The calls for batches of so many examples."""
        micro_batches = self._full.divide(batch_size).micro_batches
        if micro_batches not in self._made:
            made = self._make(micro_batches)
            made.shares = self.shares
            self._made[micro_batches] = made
        return self._made[micro_batches]
