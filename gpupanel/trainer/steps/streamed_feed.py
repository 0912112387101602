"""Examples that are read, and handed in with the calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.domain.data_on_device import MOST_CALL_BYTES
from gpupanel.trainer.datasets.examples import Examples, Indices
from gpupanel.trainer.steps.data_on_gpu import as_bits, features_of, labels_of
from gpupanel.trainer.steps.feed import Step
from gpupanel.trainer.steps.host_tensor import tensor_of
from gpupanel.trainer.steps.look_ahead import LookAhead
from gpupanel.trainer.steps.row_blocks import RowBlocks

_HOST = "/device:CPU:0"


@dataclass(frozen=True, slots=True)
class MostSteps:
    """How many steps a call takes by what it carries, the same in every process of the run.

    Attributes:
        example_bytes: Of the features and labels of one example.
        processes: That of each replica of the run; without them all are of one.
        with_neighbour: One example more is carried for each part.
        most_bytes: That a call carries.
    """

    example_bytes: int
    processes: Sequence[int] = ()
    with_neighbour: bool = False
    most_bytes: int = MOST_CALL_BYTES

    def __call__(self, bounds: Indices) -> int:
        """By what the process carries that gets most of a batch.

        Args:
            bounds: As :meth:`Feed.tensors` takes them.
        """
        rows = np.diff(bounds)[:, 0] + self.with_neighbour
        most_rows = np.bincount(self.processes or [0] * len(rows), rows).max()
        return steps_within(self.most_bytes, int(most_rows) * self.example_bytes)


class StreamedFeed:
    """Examples are read for each call, because they do not stay in memory.

    Each process reads those of its own replicas, ahead of the calls, and copies those of a call to
    its devices while the call before it is computed.
    """

    def __init__(
        self,
        examples: Examples,
        devices: Mapping[int, str],
        most_steps: MostSteps | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            examples: What to read from.
            devices: That of each replica of this process, by its index among all of the run;
                neighbours.
            most_steps: Of a call. Where it says so, the example before the first of each part that
                is theirs is read, too; before the first of the batch comes its last.
        """
        self.examples = len(examples)
        self._examples = examples
        self._devices = devices
        self._replicas = list(devices)
        self._most_steps = most_steps or MostSteps(examples.carried_bytes)
        self._look_ahead = LookAhead(examples)
        self._parts = RowBlocks(examples.feature_shape, examples.features.dtype)

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
        own = [
            self._own(batches, self._places(bounds, batches.shape[1])) for batches, bounds in coming
        ]
        self._look_ahead.expect(np.concatenate(own))

    def most_steps(self, bounds: Indices) -> int | None:
        """See :meth:`Feed.most_steps`."""
        return self._most_steps(bounds)

    def close(self) -> None:
        """See :meth:`Feed.close`."""
        self._look_ahead.close()

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`Feed.tensors`: each part is placed on the device of its replica."""
        del place
        size = batches.shape[1]
        places = self._places(bounds, size)
        features = self._look_ahead.take(self._own(batches, places))
        features = features.reshape((len(batches), len(places), *self._examples.feature_shape))
        starts, placed = list[int](), list[tf.Tensor]()
        for replica, device in self._devices.items():
            own = self._part(bounds, size, replica)
            starts.append(int(own[0]))
            chosen = features
            if not np.array_equal(own, places):
                chosen = self._parts.block(len(batches) * len(own))
                chosen = chosen.reshape((len(batches), len(own), *self._examples.feature_shape))
                np.take(features, np.searchsorted(places, own), axis=1, out=chosen)
            placed.append(tensor_of(as_bits(chosen, device), device))
        with tf.device(_HOST):
            # Labels are few, and what holds whole numbers TensorFlow wants on the host anyway.
            labels = tf.constant(self._examples.labels[batches])
            return (labels, tf.constant(starts, tf.int32), *placed)

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

    def _part(self, bounds: Indices | None, size: int, replica: int) -> npt.NDArray[np.int64]:
        """The places in a batch of that size that a replica needs, in the order of its part."""
        if bounds is None:
            return np.arange(size)
        first, end = bounds[replica].tolist()
        before = 1 if self._most_steps.with_neighbour and end - first < size else 0
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
