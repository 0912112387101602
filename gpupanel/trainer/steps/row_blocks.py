"""Memory that rows are written to as they are read, and handed out of without a copy."""

import math
import sys
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Array

_ALIGNED_BYTES = 64
"""TensorFlow's kernels take memory as it is that begins at a multiple of these
(``EIGEN_MAX_ALIGN_BYTES``), and fail with any other."""
_HOST = "/device:CPU:0"

Pixels: TypeAlias = npt.NDArray[np.uint8]


class RowBlocks:
    """Blocks of rows; one that nobody holds rows of any more is used again.

    To make memory anew takes as long as to copy what is written there: the system hands it out page
    by page, and clears each of them. One thread asks for blocks; any may hold rows.
    """

    def __init__(self, row_shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        """No block is made before one is asked for.

        Args:
            row_shape: Of one row.
            dtype: Of its numbers.
        """
        self._row_shape = row_shape
        self._dtype = dtype
        self._memory: list[Array] = []

    def block(self, rows: int) -> Array:
        """So many rows, with anything in them; whoever holds some of them keeps the block."""
        wanted = rows * math.prod(self._row_shape) * self._dtype.itemsize + _ALIGNED_BYTES
        # Rows are views, each of which counts as one that holds the memory. It is also held by the
        # list, and by being asked for.
        free = [place for place in range(len(self._memory)) if self._is_free(place)]
        for place in reversed(free):
            if len(self._memory[place]) != wanted:
                del self._memory[place]
        fitting = [place for place in range(len(self._memory)) if self._is_free(place)]
        if not fitting:
            self._memory.append(np.empty(wanted, np.uint8))
        memory = self._memory[fitting[0] if fitting else -1]
        first = -memory.ctypes.data % _ALIGNED_BYTES
        aligned = memory[first : first + wanted - _ALIGNED_BYTES]
        return aligned.view(self._dtype).reshape(rows, *self._row_shape)

    def _is_free(self, place: int) -> bool:
        return sys.getrefcount(self._memory[place]) == 2


def tensor_of(array: Array, device: str) -> tf.Tensor:
    """What a device computes with; on the host the array's own memory, which has to stay as it is.

    Args:
        array: Rows.
        device: TensorFlow's name.
    """
    is_aligned = array.ctypes.data % _ALIGNED_BYTES == 0
    is_plain = array.flags.c_contiguous and array.flags.writeable and array.dtype.kind in "iuf"
    if not (is_aligned and is_plain and array.size):
        with tf.device(device):
            return tf.constant(array)
    with tf.device(_HOST):
        shared = tf.experimental.dlpack.from_dlpack(cast("Pixels", array).__dlpack__())
    with tf.device(device):
        return shared if device == _HOST else tf.identity(shared)
