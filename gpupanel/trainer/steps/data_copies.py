"""What the devices of a process hold of examples: each array once, whichever sets are of it."""

import tensorflow as tf

from gpupanel.files.process_log import write_to_process_log
from gpupanel.trainer.datasets.examples import Array, HeldRows
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.steps.data_on_gpu import as_bits, as_on_gpu

_HOST = "/device:CPU:0"


class DataCopies:
    """Copies of arrays on devices, made when they are asked for."""

    def __init__(self) -> None:
        self._held: list[tuple[str, Array, tf.Tensor]] = []

    def on(self, device: str, array: Array) -> tf.Tensor:
        """The array there, as a device holds it; on the host where a GPU has no room any more.

        Args:
            device: TensorFlow's name.
            array: Is held as well, and not to be written to.
        """
        for place, held, copy in self._held:
            if place == device and held is array:
                return copy
        made = _copied(array, device)
        self._held.append((device, array, made))
        return made


def _copied(array: Array, device: str) -> tf.Tensor:
    if "GPU" not in device:
        with tf.device(device):
            return tf.constant(array)
    try:
        return _on_gpu(array, device)
    except tf.errors.OpError as error:
        if not is_out_of_memory(error):
            raise
        # Others took meanwhile what there seemed to be.
        write_to_process_log(f"The examples stay on the host: {device} has no room for them.")
        with tf.device(_HOST):
            return tf.constant(as_bits(array, device))


def _on_gpu(array: Array, device: str) -> tf.Tensor:
    """Part by part: neither the host nor the GPU holds it twice meanwhile.

    A variable would be copied as soon as it is read after a part of it was assigned.
    """
    kept = as_on_gpu(array.dtype)
    with tf.device(device):
        held = tf.raw_ops.Empty(shape=array.shape, dtype=tf.as_dtype(kept))
        row = 0
        for part in HeldRows(array).parts():
            given = as_bits(part, device).astype(kept, copy=False)
            rows = tf.range(row, row + len(part))
            held = tf.raw_ops.InplaceUpdate(x=held, i=rows, v=tf.constant(given))
            row += len(part)
        return held
