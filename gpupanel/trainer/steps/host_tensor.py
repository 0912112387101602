"""Rows in the host's memory as a tensor of a device."""

from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.steps.row_blocks import ALIGNED_BYTES

_HOST = "/device:CPU:0"

_Pixels: TypeAlias = npt.NDArray[np.uint8]


def tensor_of(array: Array, device: str) -> tf.Tensor:
    """What a device computes with; on the host the array's own memory, which has to stay as it is.

    Args:
        array: Rows.
        device: TensorFlow's name.
    """
    is_aligned = array.ctypes.data % ALIGNED_BYTES == 0
    is_plain = array.flags.c_contiguous and array.flags.writeable and array.dtype.kind in "iuf"
    if not (is_aligned and is_plain and array.size):
        with tf.device(device):
            return tf.constant(array)
    with tf.device(_HOST):
        shared = tf.experimental.dlpack.from_dlpack(cast("_Pixels", array).__dlpack__())
    with tf.device(device):
        return shared if device == _HOST else tf.identity(shared)
