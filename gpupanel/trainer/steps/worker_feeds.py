"""How examples reach the workers of a parameter-server run.

Whichever worker is free takes the next steps, so nothing is known beforehand of who reads what.
Where the examples are few, each worker gets a copy once, and a step is a list of their indices;
else the coordinator reads them and hands them over with the step.
"""

from collections.abc import Callable
from typing import Protocol

import tensorflow as tf

from gpupanel.domain.data_on_device import MOST_CALL_BYTES
from gpupanel.trainer.datasets.examples import Array, Examples, Indices, held_rows
from gpupanel.trainer.steps.look_ahead import LookAhead
from gpupanel.trainer.steps.streamed_feed import steps_within

_COPY_BYTES = 64 * 2**20
"""Sets up to this size are copied to each worker: gRPC takes about a second for it."""

_HOST = "/device:CPU:0"
"""Within a step: of the worker that does it."""

ReadStep = Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
"""Reads features and labels of the batch of a step, by its number within the call."""


class WorkerFeed(Protocol):
    """Hands examples to calls of several steps, each on a worker of its own."""

    @property
    def signature(self) -> tuple[tf.TypeSpec, ...]:
        """Specs of a call's arguments; the last one's first axes are steps and batch."""

    def expect(self, coming: Indices) -> None:
        """Make ready what is going to be asked for, instead of what was expected before.

        Args:
            coming: Examples, in the order in which they will be asked for.
        """

    def most_steps(self, batch_size: int) -> int | None:
        """How many steps one call may take, by what it carries; ``None``: any number."""

    def close(self) -> None:
        """Make nothing ready any more."""

    def arguments(self, batches: Indices, place: int = 0) -> tuple[object, ...]:
        """What one call takes for these steps.

        Args:
            batches: Example indices, shape [steps, batch].
            place: Of the first example among those of the epoch.

        Raises:
            ProblemError: An example cannot be read.
        """

    def reader(self, *arguments: tf.Tensor) -> ReadStep:
        """Reads the batches of one call; inside the graph, on the worker."""


class CopiedFeed:
    """Every worker holds all examples: a call carries indices, and a step reads its own batch."""

    def __init__(
        self,
        features: Array,
        labels: Array,
        coordinator: tf.distribute.coordinator.ClusterCoordinator,
    ) -> None:
        with tf.device(_HOST):
            held = (tf.constant(features), tf.constant(labels))
        # A data set of one element, always the same, is TensorFlow's way to keep something on
        # each worker: a step gets that of the worker it runs on.
        self._held = iter(
            coordinator.create_per_worker_dataset(
                lambda: tf.data.Dataset.from_tensors(held).repeat()
            )
        )
        self._spec = tf.data.IteratorSpec(tuple(tf.TensorSpec.from_tensor(one) for one in held))

    @property
    def signature(self) -> tuple[tf.TypeSpec, ...]:
        """See :attr:`WorkerFeed.signature`."""
        return (self._spec, tf.TensorSpec([None, None], tf.int32))

    def expect(self, coming: Indices) -> None:
        """Nothing: everything is there."""

    def most_steps(self, batch_size: int) -> int | None:
        """Any number: a call carries indices."""

    def close(self) -> None:
        """Nothing is under way."""

    def arguments(self, batches: Indices, place: int = 0) -> tuple[object, ...]:
        """See :meth:`WorkerFeed.arguments`."""
        del place
        return (self._held, batches)

    def reader(self, *arguments: tf.Tensor) -> ReadStep:
        """See :meth:`WorkerFeed.reader`."""
        held, batches = arguments
        features, labels = next(held)

        def read(step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.device(_HOST):
                return tf.gather(features, batches[step]), tf.gather(labels, batches[step])

        return read


class ShippedFeed:
    """The coordinator reads each batch, ahead where it is expected, and ships it with the step."""

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self._look_ahead = LookAhead(examples)

    @property
    def signature(self) -> tuple[tf.TypeSpec, ...]:
        """See :attr:`WorkerFeed.signature`."""
        labels = self._examples.labels
        return (
            tf.TensorSpec(
                [None, None, *self._examples.feature_shape], self._examples.features.dtype
            ),
            tf.TensorSpec([None, None, *labels.shape[1:]], labels.dtype),
        )

    def expect(self, coming: Indices) -> None:
        """See :meth:`WorkerFeed.expect`."""
        self._look_ahead.expect(coming)

    def most_steps(self, batch_size: int) -> int | None:
        """See :meth:`WorkerFeed.most_steps`: a worker's call carries up to 128 MiB."""
        return steps_within(MOST_CALL_BYTES, batch_size * self._examples.carried_bytes)

    def close(self) -> None:
        """See :meth:`WorkerFeed.close`."""
        self._look_ahead.close()

    def arguments(self, batches: Indices, place: int = 0) -> tuple[object, ...]:
        """See :meth:`WorkerFeed.arguments`."""
        del place
        features = self._look_ahead.take(batches.reshape(-1))
        shape = (*batches.shape, *self._examples.feature_shape)
        return (features.reshape(shape), self._examples.labels[batches])

    def reader(self, *arguments: tf.Tensor) -> ReadStep:
        """See :meth:`WorkerFeed.reader`."""
        features, labels = arguments

        def read(step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return features[step], labels[step]

        return read


def make_worker_feed(
    examples: Examples, coordinator: tf.distribute.coordinator.ClusterCoordinator
) -> WorkerFeed:
    """The fastest feed that these examples allow."""
    size_bytes = len(examples) * examples.carried_bytes
    if held_rows(examples.features) is None or size_bytes > _COPY_BYTES:
        return ShippedFeed(examples)
    return CopiedFeed(examples.read_all(), examples.labels, coordinator)
