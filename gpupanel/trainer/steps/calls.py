"""Several steps in one call of a ``tf.function``, on every replica at once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.steps.feeds import Feed
from gpupanel.trainer.steps.order import Parts, divide_batch
from gpupanel.trainer.steps.replica_sums import ReplicaSums

ReplicaStep = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], ReplicaSums]
"""From the features and labels of a replica's part, and the number of examples over all
replicas, to the sums of its part."""

_CLOCKS_COST_FROM = 16
"""Steps of a call from which its clocks are felt. Such a step takes 3 ms at most, as a call takes
50; the clocks of two replicas took 20 us of it, 0.7 %."""

_CLOCKED_EVERY = 16
"""Of the calls with so many steps."""

_CLOCKED_FIRST = 64
"""Of these calls, all have clocks: in the three seconds that they take, no more is lost than by
building the graph without clocks."""

VOTE_NUMBERS = 5
"""How many numbers every process hands in with a call."""

_HOST = "/device:CPU:0"


@dataclass(frozen=True, slots=True)
class CallSums:
    """What one call did, over all its steps and replicas.

    Attributes:
        sums: Of loss and measures, as :class:`~gpupanel.trainer.models.objectives.Objective` counts
            them.
        steps: Steps done: fewer than asked when one of them had a loss that is not finite.
        votes: What the processes of the run handed in, summed: the same on each of them.
        replica_seconds: How long each replica of the run computed, waiting not counted; empty
            where it was not measured in this call.
        waited_s: How long the steps had to wait for their examples.
        replica_waits: The same of each replica of the run, by its process.
        graph_s: From the beginning of the first step to the end of the last one; ``None`` where
            steps are not waited for.
        gradient_norms: Sum over the steps of the global norm of each one's gradient, before it is
            clipped; 0 where nothing learned.
    """

    sums: tuple[float, ...]
    steps: int
    votes: tuple[float, ...] = (0.0,) * VOTE_NUMBERS
    replica_seconds: tuple[float, ...] = ()
    waited_s: float = 0.0
    replica_waits: tuple[float, ...] = ()
    graph_s: float | None = None
    gradient_norms: float = 0.0

    @property
    def loss_sum(self) -> float:
        """Not finite when the last step done was the first whose loss is not."""
        return self.sums[0]


class Calls:
    """Runs steps, traced once: batch size and number of steps may differ from call to call.

    Every process of a run calls with the same batches; each of its replicas takes its part, by
    its index among all replicas of the run.

    Attributes:
        shares: Examples of a full global batch, per replica of the run, from the next call on.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        feed: Feed,
        shares: tuple[int, ...],
        sum_count: int,
        replica_step: ReplicaStep,
        *,
        accumulation_steps: int = 1,
        timed: bool = False,
        step_without_clocks: ReplicaStep | None = None,
    ) -> None:
        """Nothing is traced yet.

        Args:
            strategy: Its replicas are those of the shares, of all processes.
            feed: Where the examples come from.
            shares: See :attr:`shares`.
            sum_count: How many sums of loss and measures a replica gives.
            replica_step: What a replica does with its part.
            accumulation_steps: Micro-batches of each part of a full batch.
            timed: Whether the step gives its seconds, and the sums have ``replica_seconds``.
            step_without_clocks: The same step, but that it gives no seconds, for most of the calls
                whose steps are so short that clocks are felt; ``None``: every call has clocks.
        """
        self.shares = shares
        self._strategy = strategy
        self._feed = feed
        self._sum_count = sum_count
        self._accumulation_steps = accumulation_steps
        self._timed = timed
        self._replicas = len(shares)
        self._function = self._traceable(replica_step, timed=timed)
        self._without_clocks: Any = (
            None
            if step_without_clocks is None
            else self._traceable(step_without_clocks, timed=False)
        )
        self._is_traced_without_clocks = False
        self._short_calls = 0

    def _traceable(self, step: ReplicaStep, *, timed: bool) -> Any:  # noqa: ANN401
        bounds = tf.TensorSpec([self._replicas, 2], tf.int32)
        copies = tf.TensorSpec([], tf.int32)
        votes = tf.TensorSpec([VOTE_NUMBERS + 1], tf.float32)
        # Without autograph: the loop is written with TensorFlow's own, which traces faster.
        return tf.function(
            partial(self._steps, step, timed),
            input_signature=[bounds, copies, votes, *self._feed.signature],
            autograph=False,
        )

    def trace(self) -> None:
        """Build the graph now, so that the first call does not have to."""
        self._function.get_concrete_function()

    def trace_for(self, steps: int) -> bool:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.trace_for`."""
        if self._is_traced_without_clocks or self._has_clocks(steps):
            return False
        self._without_clocks.get_concrete_function()
        self._is_traced_without_clocks = True
        return True

    def _has_clocks(self, steps: int) -> bool:
        """Whether the next call does, with so many steps: the same in all processes of the run."""
        if self._without_clocks is None or steps < _CLOCKS_COST_FROM:
            return True
        if self._short_calls < _CLOCKED_FIRST:
            return True
        return self._short_calls % _CLOCKED_EVERY == 0

    def divide(self, batch_size: int) -> Parts:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.divide`."""
        return divide_batch(self.shares, batch_size, self._accumulation_steps)

    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.expect`."""
        coming = []
        for each in (order, order[:0] if then is None else then):
            full = len(each) // batch_size * batch_size
            coming += [each[:full].reshape(-1, batch_size), each[np.newaxis, full:]]
        self._feed.expect(
            [(each, self.divide(each.shape[1]).bounds) for each in coming if each.size]
        )

    def close(self) -> None:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.close`."""
        self._feed.close()

    def __call__(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        coming: Indices | None = None,
    ) -> CallSums:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.__call__`."""
        return self.begin(batches, votes, place=place, coming=coming)()

    def begin(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        coming: Indices | None = None,
    ) -> Callable[[], CallSums]:
        """See :meth:`~gpupanel.trainer.steps.step_calls.StepCalls.begin`.

        Args:
            batches: Example indices, shape [steps, batch]; the batch may be a smaller one.
            votes: At most :data:`VOTE_NUMBERS` numbers, summed over the run's processes.
            place: Of the first example among those of the epoch.
            coming: What the next call is going to take; ``None``: nobody knows.

        Raises:
            ProblemError: An example cannot be read.
        """
        parts = self.divide(batches.shape[1])
        division = (tf.constant(parts.bounds), tf.constant(parts.copies))
        start_s = time.monotonic()
        tensors = self._feed.tensors(batches, parts.bounds, place)
        waited_s = time.monotonic() - start_s
        if coming is not None:
            self._feed.place_ahead(coming, self.divide(coming.shape[1]).bounds)
        padded = [*votes, *[0.0] * (VOTE_NUMBERS - len(votes)), waited_s]
        steps = len(batches)
        has_clocks = self._has_clocks(steps)
        self._short_calls += steps >= _CLOCKS_COST_FROM
        sums = (self._function if has_clocks else self._without_clocks)(
            *division, tf.constant(padded, tf.float32), *tensors
        )
        return lambda: self._call_sums(sums, waited_s, timed=self._timed and has_clocks)

    def _steps(
        self,
        replica_step: ReplicaStep,
        timed: bool,  # noqa: FBT001
        bounds: tf.Tensor,
        copies: tf.Tensor,
        votes: tf.Tensor,
        *stacked: tf.Tensor,
    ) -> tf.Tensor:
        in_replica = partial(self._in_replica, replica_step)

        with tf.device(_HOST):
            begun_s = tf.timestamp()
        count = tf.shape(stacked[0])[0]
        examples = tf.cast(tf.shape(stacked[0])[1] * copies, tf.float32)

        def goes_on(step: tf.Tensor, sums: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(step < count, tf.math.is_finite(sums[0]))

        def one_step(step: tf.Tensor, sums: tf.Tensor) -> Any:  # noqa: ANN401
            more = self._strategy.run(in_replica, args=(bounds, examples, stacked, step))
            return step + 1, sums + self._sum(more)

        with tf.control_dependencies([begun_s]):
            summed = tf.zeros([self._sum_count + 1 + (self._replicas + 1) * timed])
        step, sums = tf.while_loop(goes_on, one_step, (0, summed), parallel_iterations=1)
        with tf.control_dependencies([step]):
            # After the steps on every process: collectives must come in the same order on each.
            handed_in = tf.identity(votes)
            with tf.device(_HOST):
                ended_s = tf.timestamp()
        summed_votes = self._sum(self._strategy.run(self._once_a_process, args=(handed_in,)))
        # One tensor: each that is read costs a round trip.
        done = [tf.cast(step, tf.float32)]
        over_examples, others = sums[: self._sum_count], sums[self._sum_count :]
        once = over_examples / tf.cast(copies, tf.float32)
        graph_s = [tf.cast(ended_s - begun_s, tf.float32)]
        return tf.concat([once, done, summed_votes, graph_s, others], axis=0)

    def _in_replica(
        self,
        replica_step: ReplicaStep,
        bounds: tf.Tensor,
        examples: tf.Tensor,
        tensors: tuple[tf.Tensor, ...],
        step: tf.Tensor,
    ) -> tf.Tensor:
        replica = _replica()
        first, end = bounds[replica, 0], bounds[replica, 1]
        features, labels = self._feed.part(replica, tensors, step, first, end)
        sums = replica_step(features, labels, examples)
        # All replicas know the same norm: one of them counts.
        norm = sums.whole_batch_norm if replica == 0 else tf.zeros([])
        if sums.timing is None:
            return tf.concat([sums.sums, [norm]], axis=0)
        # Each replica knows its own seconds only: summed up they stand beside each other.
        timing, zero = sums.timing, tf.zeros([])
        seconds = [timing.seconds if each == replica else zero for each in range(self._replicas)]
        # Packed at once: in the shortest steps each operation is a hundredth of the time.
        others = [norm, *seconds, zero if timing.witness is None else timing.witness]
        return tf.concat([sums.sums, others], axis=0)

    def _once_a_process(self, votes: tf.Tensor) -> tf.Tensor:
        # TensorFlow's default strategy does not know its devices: it has one replica.
        alone = self._replicas == 1
        here = 1 if alone else len(self._strategy.extended.worker_devices)
        first_of_its_process = _replica() % here == 0
        handed_in, waited_s = votes[:VOTE_NUMBERS], votes[VOTE_NUMBERS]
        once = handed_in if first_of_its_process else tf.zeros_like(handed_in)
        return tf.concat([once, tf.one_hot(_replica(), self._replicas) * waited_s], axis=0)

    def _call_sums(self, returned: tf.Tensor, waited_s: float, *, timed: bool) -> CallSums:
        numbers = [float(number) for number in returned.numpy()]
        counts = (self._sum_count, 1, VOTE_NUMBERS, self._replicas, 1, 1)
        ends = list(accumulate(counts, initial=0))
        sums, (steps,), votes, waits, (graph_s,), (norms,) = (
            tuple(numbers[first:end]) for first, end in pairwise(ends)
        )
        return CallSums(
            sums=sums,
            steps=round(steps),
            votes=votes,
            # The last one is the witness: of no meaning.
            replica_seconds=tuple(numbers[ends[-1] : -1]) if timed else (),
            waited_s=waited_s,
            replica_waits=waits,
            graph_s=graph_s,
            gradient_norms=norms,
        )

    def _sum(self, per_replica: tf.Tensor) -> tf.Tensor:
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


def _replica() -> int:
    """The index among all replicas of the run; within a replica's context."""
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
