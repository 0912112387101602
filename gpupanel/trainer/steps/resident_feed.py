"""Examples that are in memory from the start: calls gather them inside the graph."""

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Array, HeldRows, Indices
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.data_on_gpu import features_of, labels_of
from gpupanel.trainer.steps.feed import Step, own_devices


class ResidentFeed:
    """All examples are in memory from the start, a copy for each GPU.

    A call then carries indices only, which is what makes many small steps fast.
    """

    def __init__(
        self,
        features: HeldRows,
        labels: Array,
        plan: LaunchPlan,
        copies: DataCopies,
        most_steps: Callable[[Indices], int] | None = None,
    ) -> None:
        """Copies them.

        Args:
            features: Of all examples.
            labels: Of all examples.
            plan: Of the run.
            copies: Those of the run.
            most_steps: Of a call, where another process of the run may bring its examples.
        """
        self.examples = len(labels)
        self._devices = own_devices(plan)
        self._features = features
        # In the order of the array, so that one index finds both.
        of_array = labels
        if features.rows is not None:
            of_array = np.zeros((len(features.array), *labels.shape[1:]), labels.dtype)
            of_array[features.rows] = labels
        self._copies = {
            replica: (copies.on(device, features.array), copies.on(device, of_array))
            for replica, device in self._devices.items()
        }
        self._dtypes = features.array.dtype, labels.dtype
        self._most_steps = most_steps

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`."""
        return (tf.TensorSpec([None, None], tf.int32),)

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Nothing: everything is there."""

    def most_steps(self, bounds: Indices) -> int | None:
        """Any number, as a call carries indices, if all processes are alike."""
        return None if self._most_steps is None else self._most_steps(bounds)

    def close(self) -> None:
        """Nothing is under way."""

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`Feed.tensors`."""
        del bounds, place
        return (tf.constant(self._features.places(batches)),)

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
