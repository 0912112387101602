"""Calls of several steps, each on whichever worker of a parameter-server run is free."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.batch_division import Parts, divide_batch
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.clock import has_timestamp
from gpupanel.trainer.steps.step_calls import CallSums, Launch, ReplicaStep, StepCalls, Wait
from gpupanel.trainer.steps.update import UPDATE_METRICS
from gpupanel.trainer.steps.worker_feeds import WorkerFeed


class AsynchronousCalls(StepCalls):
    """Runs steps on workers, whose weights are those of the parameter servers.

    What a call did is what comes back from it, so steps and examples are counted exactly,
    however many workers work at the same time.

    Attributes:
        shares: See :class:`~gpupanel.trainer.steps.step_calls.StepCalls`: each step is a whole
            global batch for one worker.
    """

    def __init__(
        self,
        coordinator: tf.distribute.coordinator.ClusterCoordinator,
        feed: WorkerFeed,
        shares: tuple[int, ...],
        sum_count: int,
        replica_step: ReplicaStep,
        *,
        accumulation_steps: int = 1,
    ) -> None:
        """Nothing is traced yet.

        Args:
            coordinator: Knows the workers.
            feed: Where the examples come from.
            shares: See :attr:`shares`.
            sum_count: How many sums of loss and metrics a worker gives.
            replica_step: What a worker does with a batch.
            accumulation_steps: Micro-batches of a full batch.
        """
        self.shares = shares
        self._coordinator = coordinator
        self._feed = feed
        self._sum_count = sum_count
        self._replica_step = replica_step
        self._accumulation_steps = accumulation_steps
        self._function = tf.function(
            self._steps,
            input_signature=[tf.TensorSpec([], tf.int64), *feed.signature],
            autograph=False,
        )

    @override
    def trace(self) -> None:
        # TensorFlow traces a step within a call only; this one has no steps.
        self(np.zeros((0, 1), np.int32))

    @override
    def divide(self, batch_size: int) -> Parts:
        # One worker takes all.
        return divide_batch(self.shares[:1], batch_size, self._accumulation_steps)

    @override
    def expect(self, order: Indices, batch_size: int, then: Indices | None = None) -> None:
        del batch_size  # a worker takes a batch as it is
        self._feed.expect(order if then is None else np.concatenate([order, then]))

    @override
    def most_steps(self, batch_size: int) -> int | None:
        return self._feed.most_steps(batch_size)

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
        """Read one step for each row; launched, they are done on a worker.

        The sums' ``replica_seconds`` are how long the worker took.

        Raises:
            ProblemError: An example cannot be read.
        """
        del votes
        start_s = time.monotonic()
        arguments = self._feed.arguments(batches, place)
        read_s = time.monotonic() - start_s
        first = tf.constant(first_step, tf.int64)

        def launch(idle_s: float) -> Wait:
            begun_s = time.monotonic()
            under_way = self._coordinator.schedule(self._function, args=(first, *arguments))

            def sums() -> CallSums:
                *numbers, steps, seconds = (float(one) for one in under_way.fetch())
                of_updates = numbers[self._sum_count :]
                return CallSums(
                    tuple(numbers[: self._sum_count]),
                    round(steps),
                    # Where the worker has no clock, its waiting in line counts, too.
                    replica_seconds=(seconds or time.monotonic() - begun_s,),
                    waited_s=min(read_s, idle_s),
                    of_updates=dict(zip(UPDATE_METRICS, of_updates, strict=True)),
                )

            return sums

        return launch

    def _steps(self, first_step: tf.Tensor, *arguments: tf.Tensor) -> tf.Tensor:
        # Python, whose clock works where TensorFlow refuses its own, is in another process.
        timed = has_timestamp()
        start_s = tf.timestamp() if timed else tf.zeros([])
        read = self._feed.reader(*arguments)
        count, batch_size = tf.unstack(tf.shape(arguments[-1])[:2])
        examples = tf.cast(batch_size, tf.float32)

        def goes_on(step: tf.Tensor, sums: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(step < count, tf.math.is_finite(sums[0]))

        def one_step(step: tf.Tensor, sums: tf.Tensor) -> Any:  # noqa: ANN401
            features, labels = read(step)
            # A worker takes a batch whole.
            part = BatchPart(examples, tf.zeros([], tf.int32), first_step + tf.cast(step, tf.int64))
            more = self._coordinator.strategy.run(self._replica_step, args=(features, labels, part))
            of_update = more.of_update or (tf.zeros([]),) * len(UPDATE_METRICS)
            return step + 1, sums + tf.concat([more.sums, [*of_update]], axis=0)

        zeros = tf.zeros([self._sum_count + len(UPDATE_METRICS)])
        step, sums = tf.while_loop(goes_on, one_step, (0, zeros), parallel_iterations=1)
        with tf.control_dependencies([step]):
            took_s = tf.timestamp() - start_s if timed else tf.zeros([])
        # One tensor: each that is read costs a round trip.
        counted = [tf.cast(step, tf.float32), tf.cast(took_s, tf.float32)]
        return tf.concat([sums, counted], axis=0)
