"""How examples reach the replicas: gathered from memory inside the graph, or handed in.

Either way a step is a list of example indices first, and each replica gets only its own part.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.started_run import process_place
from gpupanel.trainer.steps.look_ahead import LookAhead

_DEVICE_COPY_BYTES = 256 * 2**20
"""Sets up to this size are copied to each device; greater ones stay in host memory."""

_HOST = "/device:CPU:0"


class Feed(Protocol):
    """Hands examples to a call of several steps.

    Attributes:
        examples: How many there are.
    """

    examples: int

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """Of the tensors that one call takes; their first axis is the steps."""

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Make ready what is going to be asked for, instead of what was expected before.

        Args:
            coming: Batches and bounds, as :meth:`tensors` takes them, in the order in which their
                steps will be asked for; how many of them a call takes does not matter.
        """

    def close(self) -> None:
        """Make nothing ready any more."""

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """What one call takes for these steps.

        Args:
            batches: Example indices, shape [steps, batch].
            bounds: Where each replica's part of a batch begins and ends, shape [replicas, 2];
                without it any part may be asked for.
            place: Of the first example among those of the epoch.

        Raises:
            ProblemError: An example cannot be read.
        """

    def part(
        self, replica: int, step: Sequence[tf.Tensor], first: tf.Tensor, end: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Features and labels of one replica's part of one step, inside the graph.

        Args:
            replica: Its index.
            step: The tensors of :meth:`tensors` at that step.
            first: Where its part of the batch begins.
            end: Where it ends.
        """


class ResidentFeed:
    """All examples are in memory from the start, a copy for each device where they are few.

    A call then carries indices only, which is what makes many small steps fast.
    """

    def __init__(self, features: Array, labels: Array, plan: LaunchPlan) -> None:
        self.examples = len(labels)
        devices = _own_devices(plan)
        if features.nbytes > _DEVICE_COPY_BYTES:
            devices = dict.fromkeys(devices, _HOST)
        copies = {device: _on_device(features, labels, device) for device in set(devices.values())}
        self._copies = {replica: copies[device] for replica, device in devices.items()}

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`."""
        return (tf.TensorSpec([None, None], tf.int32),)

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Nothing: everything is there."""

    def close(self) -> None:
        """Nothing is under way."""

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`Feed.tensors`."""
        del bounds, place
        return (tf.constant(batches),)

    def part(
        self, replica: int, step: Sequence[tf.Tensor], first: tf.Tensor, end: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Feed.part`."""
        features, labels = self._copies[replica]
        indices = step[0][first:end]
        with tf.device(features.device):
            return tf.gather(features, indices), tf.gather(labels, indices)


class StreamedFeed:
    """Examples are read for each call, because they do not stay in memory.

    Each process reads those of its own replicas, and what is expected ahead of the calls.
    """

    def __init__(
        self, examples: Examples, replicas: Sequence[int], *, with_neighbour: bool = False
    ) -> None:
        """Nothing is read yet.

        Args:
            examples: What to read from.
            replicas: Those of this process, by their index among all of the run; neighbours.
            with_neighbour: Read the example before the first of each batch that is theirs, too;
                before the first of the batch comes its last.
        """
        self._with_neighbour = with_neighbour
        self._replicas = list(replicas)
        self.examples = len(examples)
        self._examples = examples
        self._look_ahead = LookAhead(examples)

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`."""
        labels = self._examples.labels
        return (
            tf.TensorSpec(
                [None, None, *self._examples.feature_shape], self._examples.features.dtype
            ),
            tf.TensorSpec([None, None, *labels.shape[1:]], labels.dtype),
        )

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """See :meth:`Feed.expect`."""
        own = [
            batches[:, self._own(bounds, batches.shape[1])].reshape(-1)
            for batches, bounds in coming
        ]
        self._look_ahead.expect(np.concatenate(own))

    def close(self) -> None:
        """See :meth:`Feed.close`."""
        self._look_ahead.close()

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`Feed.tensors`."""
        del place
        size = batches.shape[1]
        places = np.arange(size) if bounds is None else self._own(bounds, size)
        own = batches[:, places]
        features = self._look_ahead.take(own.reshape(-1))
        features = features.reshape((*own.shape, *self._examples.feature_shape))
        if own.shape != batches.shape:
            # The parts of other processes stay empty, so that parts are where they always are.
            whole = np.zeros((*batches.shape, *self._examples.feature_shape), features.dtype)
            whole[:, places] = features
            features = whole
        with tf.device(_HOST):
            return tf.constant(features), tf.constant(self._examples.labels[batches])

    def part(
        self, replica: int, step: Sequence[tf.Tensor], first: tf.Tensor, end: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Feed.part`."""
        del replica
        return step[0][first:end], step[1][first:end]

    def _own(self, bounds: Indices, size: int) -> npt.NDArray[np.int64]:
        """The places, ascending, of a batch of that size that this process's replicas need."""
        first = int(bounds[self._replicas, 0].min())
        end = int(bounds[self._replicas, 1].max())
        before = [(first - 1) % size] if self._with_neighbour else []
        return np.union1d(before, np.arange(first, end)).astype(np.int64)


def make_feed(examples: Examples, plan: LaunchPlan, *, with_neighbour: bool = False) -> Feed:
    """The fastest feed that these examples allow; see :class:`StreamedFeed`."""
    features = examples.in_memory
    if features is None:
        return StreamedFeed(examples, list(_own_devices(plan)), with_neighbour=with_neighbour)
    return ResidentFeed(features, examples.labels, plan)


def _own_devices(plan: LaunchPlan) -> dict[int, str]:
    """The device of each replica of this process, by its index among all of the run."""
    here = process_place()
    return {
        number: replica.logical_device
        for number, replica in enumerate(plan.replicas)
        if replica.process == here
    }


def _on_device(features: Array, labels: Array, device: str) -> tuple[tf.Tensor, tf.Tensor]:
    copied = features
    if "GPU" in device and features.dtype == np.uint8:
        # TensorFlow has no kernel that gathers bytes on a GPU; halves hold 0 to 2,048 exactly.
        copied = features.astype(np.float16)
    with tf.device(device):
        return tf.constant(copied), tf.constant(labels)
