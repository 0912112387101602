"""Several steps in one call of a ``tf.function``, on every replica at once."""

import time
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.batch_division import Parts, divide_batch
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.feed import Feed
from gpupanel.trainer.steps.replica_sums import timed_where
from gpupanel.trainer.steps.step_calls import (
    VOTE_NUMBERS,
    CallSums,
    Launch,
    ReplicaStep,
    StepCalls,
    Wait,
)
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
        # What is counted beside seconds: steps, sums, and what the update says.
        self._untimed = 1 + sum_count + _UPDATES
        # Replicas, as they are traced.
        self._timed_once: set[int] = set()
        # TensorFlow's default strategy does not know its devices: it has one replica.
        alone = self._replicas == 1
        devices = [None] if alone else strategy.extended.worker_devices
        self._here, self._first_device = len(devices), devices[0]
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
    def prepare(
        self,
        batches: Indices,
        votes: Sequence[float] = (),
        *,
        place: int = 0,
        first_step: int = 0,
    ) -> Launch:
        parts = self.divide(batches.shape[1])
        # On this thread: Keras keeps its settings by thread.
        function = self._function.get_concrete_function()
        begun_s = time.monotonic()
        tensors = self._feed.tensors(batches, parts.bounds, place)
        read_s = time.monotonic() - begun_s
        division = (tf.constant(parts.bounds), tf.constant(parts.copies))
        first = tf.constant(first_step, tf.int64)

        def launch(idle_s: float) -> Wait:
            waited_s = min(read_s, idle_s)
            padded = [*votes, *[0.0] * (VOTE_NUMBERS - len(votes)), waited_s]
            sums = function(*division, first, tf.constant(padded, tf.float32), *tensors)
            return lambda: self._call_sums(sums, waited_s)

        return launch

    def _steps(
        self,
        bounds: tf.Tensor,
        copies: tf.Tensor,
        first_step: tf.Tensor,
        votes: tf.Tensor,
        *stacked: tf.Tensor,
    ) -> tf.Tensor:
        count = tf.shape(stacked[0])[0]
        examples = tf.cast(tf.shape(stacked[0])[1] * copies, tf.float32)

        # The number of steps alone: to look at a loss the host would wait for each of them.
        def goes_on(step: tf.Tensor, *before: tf.Tensor) -> tf.Tensor:
            del before
            return step < count

        def one_step(step: tf.Tensor, *before: tf.Tensor) -> Any:  # noqa: ANN401
            part = BatchPart(examples, tf.zeros([], tf.int32), first_step + tf.cast(step, tf.int64))
            with tf.device(_HOST):
                is_timed = tf.equal(step, count // 2)
            given = (bounds, part, stacked, step, before, is_timed)
            after = self._strategy.run(self._in_replica, args=given)
            return (step + 1, *self._strategy.experimental_local_results(after))

        numbers = self._untimed + (self._replicas + 1) * self._timed
        # Each replica adds up by itself: to sum over all of them takes a round trip.
        begin = (tf.zeros([], tf.int32), *[tf.zeros([numbers])] * self._here)
        _, *done = tf.while_loop(goes_on, one_step, begin, parallel_iterations=1)
        # After the steps on every process: collectives must come in the same order on each.
        handed_in = self._strategy.run(self._handed_in, args=(tuple(done), votes, count))
        # On a device of theirs: so a call is launched as soon as the one before it is, and not when
        # the host has read what that came to.
        with tf.device(self._first_device):
            summed = self._strategy.reduce(tf.distribute.ReduceOp.SUM, handed_in, axis=None)
            # One tensor: each that is read costs a round trip.
            return tf.concat([[tf.cast(copies, tf.float32)], summed], axis=0)

    def _in_replica(
        self,
        bounds: tf.Tensor,
        batch: BatchPart,
        tensors: tuple[tf.Tensor, ...],
        step: tf.Tensor,
        before: tuple[tf.Tensor, ...],
        is_timed: tf.Tensor,
    ) -> tf.Tensor:
        """How many steps this replica did, and its sums, with one step more."""
        replica = _replica()
        first, end = bounds[replica, 0], bounds[replica, 1]
        features, labels = self._feed.part(replica, tensors, step, first, end)
        with timed_where(is_timed):
            sums = self._replica_step(features, labels, batch.begins_with(first))
        # All replicas know the same of the update: one of them counts.
        of_update = sums.of_update if replica == 0 else ()
        # Packed at once: in the shortest steps each operation is a hundredth of the time.
        more = [sums.sums, [*(of_update or (tf.zeros([]),) * _UPDATES)]]
        if sums.timing is not None:
            # Each replica knows its own seconds only: summed up they stand beside each other.
            timing, zero = sums.timing, tf.zeros([])
            if timing.by_choice:
                self._timed_once.add(replica)
            seconds = [
                timing.seconds if each == replica else zero for each in range(self._replicas)
            ]
            more.append([*seconds, zero if timing.witness is None else timing.witness])
        own = before[replica % self._here]
        # What comes after a loss that is not finite counts as little as it is kept.
        counts = tf.cast(tf.math.is_finite(own[1]), tf.float32)
        return own + tf.concat([[counts], *more], axis=0)

    def _handed_in(
        self, done: tuple[tf.Tensor, ...], votes: tf.Tensor, count: tf.Tensor
    ) -> tf.Tensor:
        """The sums of this replica, and what it says by itself, beside what the others say."""
        place = tf.one_hot(_replica(), self._replicas)
        own, of_process = done[_replica() % self._here], votes[:VOTE_NUMBERS]
        once = of_process if _replica() % self._here == 0 else tf.zeros_like(of_process)
        sums, seconds = own[1 : self._untimed], own[self._untimed :]
        if _replica() in self._timed_once:
            # One step stands for all of the call.
            seconds *= tf.cast(count, tf.float32)
        waits = place * votes[VOTE_NUMBERS]
        return tf.concat([place * own[0], once, waits, sums, seconds], axis=0)

    def _call_sums(self, returned: tf.Tensor, waited_s: float) -> CallSums:
        numbers = [float(number) for number in returned.numpy()]
        counts = (1, self._replicas, VOTE_NUMBERS, self._replicas, self._sum_count, _UPDATES)
        ends = list(accumulate(counts, initial=0))
        (copies,), steps, votes, waits, sums, of_updates = (
            tuple(numbers[first:end]) for first, end in pairwise(ends)
        )
        return CallSums(
            sums=tuple(each / copies for each in sums),
            # Of all replicas the first one that had a loss that is not finite.
            steps=round(min(steps)),
            votes=votes,
            # The last one is the witness: of no meaning.
            replica_seconds=tuple(numbers[ends[-1] : -1]) if self._timed else (),
            waited_s=waited_s,
            replica_waits=waits,
            of_updates=dict(zip(UPDATE_METRICS, of_updates, strict=True)),
        )


def _replica() -> int:
    """The index among all replicas of the run; within a replica's context."""
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
