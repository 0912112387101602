"""Several steps in one call of a ``tf.function``, on every replica at once."""

import time
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.batch_division import Parts, divide_batch
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.clock import timestamp
from gpupanel.trainer.steps.feeds import Feed
from gpupanel.trainer.steps.step_calls import VOTE_NUMBERS, CallSums, ReplicaStep, StepCalls
from gpupanel.trainer.steps.update import UPDATE_METRICS

_HOST = "/device:CPU:0"
_UPDATES = len(UPDATE_METRICS)


class Calls(StepCalls):
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
    ) -> None:
        """Nothing is traced yet.

        Args:
            strategy: Its replicas are those of the shares, of all processes.
            feed: Where the examples come from.
            shares: See :attr:`shares`.
            sum_count: How many sums of loss and metrics a replica gives.
            replica_step: What a replica does with its part.
            accumulation_steps: Micro-batches of each part of a full batch.
            timed: Whether the step gives its seconds, and the sums have ``replica_seconds``.
        """
        self.shares = shares
        self._strategy = strategy
        self._feed = feed
        self._sum_count = sum_count
        self._replica_step = replica_step
        self._accumulation_steps = accumulation_steps
        self._timed = timed
        self._replicas = len(shares)
        bounds = tf.TensorSpec([len(shares), 2], tf.int32)
        copies = tf.TensorSpec([], tf.int32)
        first_step = tf.TensorSpec([], tf.int64)
        votes = tf.TensorSpec([VOTE_NUMBERS + 1], tf.float32)
        # Without autograph: the loop is written with TensorFlow's own, which traces faster.
        self._function = tf.function(
            self._steps,
            input_signature=[bounds, copies, first_step, votes, *feed.signature],
            autograph=False,
        )

    @override
    def trace(self) -> None:
        self._function.get_concrete_function()

    @override
    def divide(self, batch_size: int) -> Parts:
        return divide_batch(self.shares, batch_size, self._accumulation_steps)

    @override
    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        coming = []
        for each in (order, order[:0] if then is None else then):
            full = len(each) // batch_size * batch_size
            coming += [each[:full].reshape(-1, batch_size), each[np.newaxis, full:]]
        self._feed.expect(
            [(each, self.divide(each.shape[1]).bounds) for each in coming if each.size]
        )

    @override
    def most_steps(self, batch_size: int) -> int | None:
        return self._feed.most_steps(self.divide(batch_size).bounds)

    @override
    def close(self) -> None:
        self._feed.close()

    @override
    def begin(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
        coming: Indices | None = None,
    ) -> Callable[[], CallSums]:
        parts = self.divide(batches.shape[1])
        division = (tf.constant(parts.bounds), tf.constant(parts.copies))
        begun = tf.constant(first_step, tf.int64)
        start_s = time.monotonic()
        tensors = self._feed.tensors(batches, parts.bounds, place)
        waited_s = time.monotonic() - start_s
        if coming is not None:
            self._feed.place_ahead(coming, self.divide(coming.shape[1]).bounds)
        padded = [*votes, *[0.0] * (VOTE_NUMBERS - len(votes)), waited_s]
        sums = self._function(*division, begun, tf.constant(padded, tf.float32), *tensors)
        return lambda: self._call_sums(sums, waited_s)

    def _steps(
        self,
        bounds: tf.Tensor,
        copies: tf.Tensor,
        first_step: tf.Tensor,
        votes: tf.Tensor,
        *stacked: tf.Tensor,
    ) -> tf.Tensor:
        with tf.device(_HOST):
            begun_s = timestamp()
        count = tf.shape(stacked[0])[0]
        examples = tf.cast(tf.shape(stacked[0])[1] * copies, tf.float32)

        def goes_on(step: tf.Tensor, sums: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(step < count, tf.math.is_finite(sums[0]))

        def one_step(step: tf.Tensor, sums: tf.Tensor) -> Any:  # noqa: ANN401
            part = BatchPart(examples, tf.zeros([], tf.int32), first_step + tf.cast(step, tf.int64))
            more = self._strategy.run(self._in_replica, args=(bounds, part, stacked, step))
            return step + 1, sums + self._sum(more)

        with tf.control_dependencies([begun_s]):
            summed = tf.zeros([self._sum_count + _UPDATES + (self._replicas + 1) * self._timed])
        step, sums = tf.while_loop(goes_on, one_step, (0, summed), parallel_iterations=1)
        with tf.control_dependencies([step]):
            # After the steps on every process: collectives must come in the same order on each.
            handed_in = tf.identity(votes)
            with tf.device(_HOST):
                ended_s = timestamp()
        summed_votes = self._sum(self._strategy.run(self._once_a_process, args=(handed_in,)))
        # One tensor: each that is read costs a round trip.
        done = [tf.cast(step, tf.float32)]
        over_examples, others = sums[: self._sum_count], sums[self._sum_count :]
        once = over_examples / tf.cast(copies, tf.float32)
        graph_s = [tf.cast(ended_s - begun_s, tf.float32)]
        return tf.concat([once, done, summed_votes, graph_s, others], axis=0)

    def _in_replica(
        self,
        bounds: tf.Tensor,
        batch: BatchPart,
        tensors: tuple[tf.Tensor, ...],
        step: tf.Tensor,
    ) -> tf.Tensor:
        replica = _replica()
        first, end = bounds[replica, 0], bounds[replica, 1]
        features, labels = self._feed.part(replica, tensors, step, first, end)
        sums = self._replica_step(features, labels, batch.begins_with(first))
        # All replicas know the same of the update: one of them counts.
        of_update = sums.of_update if replica == 0 else ()
        of_update = of_update or (tf.zeros([]),) * _UPDATES
        if sums.timing is None:
            return tf.concat([sums.sums, [*of_update]], axis=0)
        # Each replica knows its own seconds only: summed up they stand beside each other.
        timing, zero = sums.timing, tf.zeros([])
        seconds = [timing.seconds if each == replica else zero for each in range(self._replicas)]
        # Packed at once: in the shortest steps each operation is a hundredth of the time.
        others = [*of_update, *seconds, zero if timing.witness is None else timing.witness]
        return tf.concat([sums.sums, others], axis=0)

    def _once_a_process(self, votes: tf.Tensor) -> tf.Tensor:
        # TensorFlow's default strategy does not know its devices: it has one replica.
        alone = self._replicas == 1
        here = 1 if alone else len(self._strategy.extended.worker_devices)
        first_of_its_process = _replica() % here == 0
        handed_in, waited_s = votes[:VOTE_NUMBERS], votes[VOTE_NUMBERS]
        once = handed_in if first_of_its_process else tf.zeros_like(handed_in)
        return tf.concat([once, tf.one_hot(_replica(), self._replicas) * waited_s], axis=0)

    def _call_sums(self, returned: tf.Tensor, waited_s: float) -> CallSums:
        numbers = [float(number) for number in returned.numpy()]
        counts = (self._sum_count, 1, VOTE_NUMBERS, self._replicas, 1, _UPDATES)
        ends = list(accumulate(counts, initial=0))
        sums, (steps,), votes, waits, (graph_s,), of_updates = (
            tuple(numbers[first:end]) for first, end in pairwise(ends)
        )
        return CallSums(
            sums=sums,
            steps=round(steps),
            votes=votes,
            # The last one is the witness: of no meaning.
            replica_seconds=tuple(numbers[ends[-1] : -1]) if self._timed else (),
            waited_s=waited_s,
            replica_waits=waits,
            graph_s=graph_s,
            of_updates=dict(zip(UPDATE_METRICS, of_updates, strict=True)),
        )

    def _sum(self, per_replica: tf.Tensor) -> tf.Tensor:
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


def _replica() -> int:
    """The index among all replicas of the run; within a replica's context."""
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
