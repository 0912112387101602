"""Examples that are in memory from the start: calls gather them inside the graph."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.files.process_log import write_to_process_log
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.steps.data_on_gpu import as_bits, as_on_gpu, features_of, labels_of
from gpupanel.trainer.steps.feed import Step, own_devices

_HOST = "/device:CPU:0"


class ResidentFeed:
    """All examples are in memory from the start, a copy for each GPU.

    A call then carries indices only, which is what makes many small steps fast.
    """

    def __init__(
        self,
        features: Array,
        labels: Array,
        plan: LaunchPlan,
        most_steps: Callable[[Indices], int] | None = None,
    ) -> None:
        """Copies them.

        Args:
            features: Of all examples.
            labels: Of all examples.
            plan: Of the run.
            most_steps: Of a call, where another process of the run may bring its examples.
        """
        self.examples = len(labels)
        self._devices = own_devices(plan)
        copies = {
            device: _on_device(features, labels, device) for device in set(self._devices.values())
        }
        self._copies = {replica: copies[device] for replica, device in self._devices.items()}
        self._dtypes = features.dtype, labels.dtype
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
