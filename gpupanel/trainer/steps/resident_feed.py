"""Examples that are in memory from the start: calls gather them inside the graph."""

from collections.abc import Callable, Sequence

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
        self._copies = {
            replica: (copies.on(device, features.array), copies.on(device, labels))
            for replica, device in self._devices.items()
        }
        self._dtypes = features.array.dtype, labels.dtype
        self._most_steps = most_steps

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`Feed.signature`."""
        indices = tf.TensorSpec([None, None], tf.int32)
        return (indices, indices)

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
        # Features may be some rows of an array that other sets have others of; labels are not.
        return (tf.constant(self._features.places(batches)), tf.constant(batches))

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
        places, indices = (each[step, first:end] for each in tensors)
        with tf.device(features.device):
            found, of_them = tf.gather(features, places), tf.gather(labels, indices)
            of_features, of_labels = self._dtypes
            given = labels_of(of_them, of_labels, self._devices[replica])
            return features_of(found, of_features), given
