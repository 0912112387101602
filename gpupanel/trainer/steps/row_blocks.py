"""Memory that rows are written to as they are read, and handed out of without a copy."""

import math
import sys

import numpy as np

from gpupanel.trainer.datasets.examples import Array

ALIGNED_BYTES = 64
"""TensorFlow's kernels take memory as it is that begins at a multiple of these
(``EIGEN_MAX_ALIGN_BYTES``), and fail with any other."""


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
        wanted = rows * math.prod(self._row_shape) * self._dtype.itemsize + ALIGNED_BYTES
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
        first = -memory.ctypes.data % ALIGNED_BYTES
        aligned = memory[first : first + wanted - ALIGNED_BYTES]
        return aligned.view(self._dtype).reshape(rows, *self._row_shape)

    def _is_free(self, place: int) -> bool:
        return sys.getrefcount(self._memory[place]) == 2
