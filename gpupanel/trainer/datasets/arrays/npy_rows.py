"""Examples of a ``.npy`` file that stays on disk, read row by row."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpupanel.files.npy_members import NpyHeader
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.arrays.files import damaged
from gpupanel.trainer.datasets.checks import ArrayName, checked_rows
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.row_files import read_rows, rows_at_once


@dataclass(frozen=True, slots=True, eq=False)
class NpyRows:
    """The first axis of an array in C order, as ``uint8`` or ``float32``.

    Attributes:
        path: Of the ``.npy`` file.
        header: Its header; the first axis counts the examples.
        name: Where the array comes from, for the words.
    """

    path: Path
    header: NpyHeader
    name: ArrayName

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first, then the shape of one example."""
        shape = self.header.shape
        return shape if len(shape) > 1 else (*shape, 1)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the numbers that are read."""
        return np.dtype(np.uint8 if self.header.dtype == np.uint8 else np.float32)

    @property
    def rows_at_once(self) -> int:
        """See :class:`~gpupanel.trainer.datasets.examples.ManyAtOnce`."""
        return rows_at_once(self.shape[0], self._row_bytes)

    @property
    def _row_bytes(self) -> int:
        return math.prod(self.header.shape[1:]) * self.header.dtype.itemsize

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: The file is gone or was cut short, or an example is not finite.
        """
        header = self.header
        try:
            with open_regular(self.path) as file:
                raw = read_rows(file.fileno(), indices, self._row_bytes, header.offset)
        except (OSError, EOFError) as error:
            raise damaged(self.path, "the NumPy .npy file that it was", error) from error
        values = raw.view(header.dtype).reshape(len(indices), *self.shape[1:])
        return checked_rows(values, indices, self.name)
