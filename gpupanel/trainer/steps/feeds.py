"""How examples reach the replicas: gathered from memory inside the graph, or handed in.

Either way a step is a list of example indices first, and each replica gets only its own part.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.domain.data_on_device import MOST_CALL_BYTES, most_call_bytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.files.process_log import write_to_process_log
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.started_run import process_place
from gpupanel.trainer.steps.data_on_gpu import (
    as_bits,
    as_on_gpu,
    features_of,
    is_small,
    labels_of,
)
from gpupanel.trainer.steps.look_ahead import LookAhead
from gpupanel.trainer.steps.placing import PlacedAhead

_HOST = "/device:CPU:0"

Step: TypeAlias = tf.Tensor | int


class Feed(Protocol):
    """Hands examples to a call of several steps.

    Attributes:
        examples: How many there are.
    """

    examples: int

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """Specs of the tensors that a call takes; the first one's axes are steps and batch."""

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Make ready what is going to be asked for, instead of what was expected before.

        Args:
            coming: Batches and bounds, as :meth:`tensors` takes them, in the order in which their
                steps will be asked for; how many of them a call takes does not matter.
        """

    def most_steps(self, bounds: Indices) -> int | None:
        """How many steps one call may take, by what it carries; ``None``: any number.

        The same in every process of the run.

        Args:
            bounds: As :meth:`tensors` takes them.
        """

    def place_ahead(self, batches: Indices, bounds: Indices) -> None:
        """Begin to copy to the devices what the next call takes.

        Args:
            batches: As :meth:`tensors` is going to take them.
            bounds: As :meth:`tensors` is going to take them.
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
                no other one may be asked for. Without it any may.
            place: Of the first example among those of the epoch.

        Raises:
            ProblemError: An example cannot be read.
        """

    def part(
        self,
        replica: int,
        tensors: Sequence[tf.Tensor],
        step: Step,
        first: tf.Tensor,
        end: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Features and labels of one replica's part of one step, inside the graph.

        Args:
            replica: Its index.
            tensors: Those of :meth:`tensors`.
            step: Which of the call's.
            first: Where its part of the batch begins.
            end: Where it ends.
        """


class ResidentFeed:
    """All examples are in memory from the start, a copy for each device where they are few.

    A call then carries indices only, which is what makes many small steps fast.
    """

    def __init__(self, features: Array, labels: Array, plan: LaunchPlan) -> None:
        self.examples = len(labels)
        self._devices = _own_devices(plan)
        devices = dict(self._devices)
        for replica in devices:
            if plan.replicas[replica].data_on_host or not is_small(features):
                devices[replica] = _HOST
        copies = {device: _on_device(features, labels, device) for device in set(devices.values())}
        self._copies = {replica: copies[device] for replica, device in devices.items()}
        self._dtypes = features.dtype, labels.dtype

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`."""
        return (tf.TensorSpec([None, None], tf.int32),)

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Nothing: everything is there."""

    def most_steps(self, bounds: Indices) -> int | None:
        """Any number: a call carries indices."""

    def place_ahead(self, batches: Indices, bounds: Indices) -> None:
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
        self,
        replica: int,
        tensors: Sequence[tf.Tensor],
        step: Step,
        first: tf.Tensor,
        end: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Feed.part`."""
        features, labels = self._copies[replica]
        indices = tensors[0][step, first:end]
        with tf.device(features.device):
            found, of_them = tf.gather(features, indices), tf.gather(labels, indices)
            of_features, of_labels = self._dtypes
            given = labels_of(of_them, of_labels, self._devices[replica])
            return features_of(found, of_features), given


class StreamedFeed:
    """Examples are read for each call, because they do not stay in memory.

    Each process reads those of its own replicas, ahead of the calls; while one computes, those of
    the next one are copied to its devices (:class:`~gpupanel.trainer.steps.placing.PlacedAhead`).
    """

    def __init__(
        self,
        examples: Examples,
        devices: Mapping[int, str],
        *,
        with_neighbour: bool = False,
        processes: Sequence[int] = (),
        most_call_bytes: int = MOST_CALL_BYTES,
    ) -> None:
        """Nothing is read yet.

        Args:
            examples: What to read from.
            devices: That of each replica of this process, by its index among all of the run;
                neighbours.
            with_neighbour: Read the example before the first of each part that is theirs, too;
                before the first of the batch comes its last.
            processes: That of each replica of the run; without them all are of this process.
            most_call_bytes: Of the features that a call carries.
        """
        self.examples = len(examples)
        self._examples = examples
        self._devices = devices
        self._replicas = list(devices)
        self._with_neighbour = with_neighbour
        self._processes = processes
        self._most_call_bytes = most_call_bytes
        self._look_ahead = LookAhead(examples)
        self._ahead = PlacedAhead(self._placed)

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`: labels, where the parts begin, and features of each part."""
        labels = self._examples.labels
        nothing = np.empty(0, self._examples.features.dtype)
        shape = [None, None, *self._examples.feature_shape]
        return (
            tf.TensorSpec([None, None, *labels.shape[1:]], labels.dtype),
            tf.TensorSpec([len(self._replicas)], tf.int32),
            *(
                tf.TensorSpec(shape, as_bits(nothing, device).dtype)
                for device in self._devices.values()
            ),
        )

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """See :meth:`Feed.expect`."""
        self._ahead.forget()
        own = [
            self._own(batches, self._places(bounds, batches.shape[1])) for batches, bounds in coming
        ]
        self._look_ahead.expect(np.concatenate(own))

    def most_steps(self, bounds: Indices) -> int | None:
        """See :meth:`Feed.most_steps`: by what the process carries that gets most of a batch."""
        rows = np.diff(bounds)[:, 0] + self._with_neighbour
        most_rows = np.bincount(self._processes or [0] * len(rows), rows).max()
        return steps_within(self._most_call_bytes, int(most_rows) * self._examples.example_bytes)

    def place_ahead(self, batches: Indices, bounds: Indices) -> None:
        """See :meth:`Feed.place_ahead`."""
        self._ahead.begin(batches, bounds)

    def close(self) -> None:
        """See :meth:`Feed.close`."""
        self._look_ahead.close()
        self._ahead.close()

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`Feed.tensors`."""
        del place
        return self._ahead.take(batches, bounds)

    def part(
        self,
        replica: int,
        tensors: Sequence[tf.Tensor],
        step: Step,
        first: tf.Tensor,
        end: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`Feed.part`."""
        labels, starts, *placed = tensors
        own = self._replicas.index(replica)
        begin = tf.math.floormod(first - starts[own], tf.shape(labels)[1])
        device = self._devices[replica]
        with tf.device(device):
            features = placed[own][step, begin : begin + end - first]
            features = features_of(features, self._examples.features.dtype)
        return features, labels_of(labels[step, first:end], self._examples.labels.dtype, device)

    def _placed(self, batches: Indices, bounds: Indices | None) -> tuple[tf.Tensor, ...]:
        """What a call takes for these steps: each part on the device of its replica."""
        size = batches.shape[1]
        places = self._places(bounds, size)
        features = self._look_ahead.take(self._own(batches, places))
        features = features.reshape((len(batches), len(places), *self._examples.feature_shape))
        starts, placed = list[int](), list[tf.Tensor]()
        for replica, device in self._devices.items():
            own = self._part(bounds, size, replica)
            starts.append(int(own[0]))
            rows = np.searchsorted(places, own)
            chosen = features if np.array_equal(own, places) else features[:, rows]
            with tf.device(device):
                placed.append(tf.constant(as_bits(chosen, device)))
        with tf.device(_HOST):
            # Labels are few, and what holds whole numbers TensorFlow wants on the host anyway.
            labels = tf.constant(self._examples.labels[batches])
            return (labels, tf.constant(starts, tf.int32), *placed)

    def _part(self, bounds: Indices | None, size: int, replica: int) -> npt.NDArray[np.int64]:
        """The places in a batch of that size that a replica needs, in the order of its part."""
        if bounds is None:
            return np.arange(size)
        first, end = bounds[replica].tolist()
        before = 1 if self._with_neighbour and end - first < size else 0
        return np.arange(first - before, end) % size

    @staticmethod
    def _own(batches: Indices, places: npt.NDArray[np.int64]) -> Indices:
        """What stands at these places of each batch, one after the other."""
        is_all = len(places) == batches.shape[1]
        return (batches if is_all else batches[:, places]).reshape(-1)

    def _places(self, bounds: Indices | None, size: int) -> npt.NDArray[np.int64]:
        """Indices of the examples that this process's replicas need, ascending."""
        parts = [self._part(bounds, size, replica) for replica in self._replicas]
        return np.unique(np.concatenate(parts))


def steps_within(most_bytes: int, step_bytes: int) -> int:
    """How many steps of that size stay within so many bytes; one does whatever its size."""
    return max(1, most_bytes // max(1, step_bytes))


def make_feed(examples: Examples, plan: LaunchPlan, *, with_neighbour: bool = False) -> Feed:
    """The fastest feed that these examples allow; see :class:`StreamedFeed`."""
    features = examples.in_memory
    if features is None:
        return StreamedFeed(
            examples,
            _own_devices(plan),
            with_neighbour=with_neighbour,
            processes=[replica.process for replica in plan.replicas],
            most_call_bytes=most_call_bytes(plan),
        )
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
    on_gpu = "GPU" in device
    copied = as_bits(features, device)
    if on_gpu:
        copied = copied.astype(as_on_gpu(features.dtype), copy=False)
    try:
        with tf.device(device):
            return tf.constant(copied), tf.constant(as_bits(labels, device))
    except tf.errors.OpError as error:
        if not (on_gpu and is_out_of_memory(error)):
            raise
        # Others took meanwhile what there seemed to be.
        write_to_process_log(f"The examples stay on the host: {device} has no room for them.")
        return _on_device(features, labels, _HOST)
