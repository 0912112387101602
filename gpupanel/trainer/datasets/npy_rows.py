"""Examples of a ``.npy`` file that stays on disk, read row by row.

Not mapped into memory: a mapped file that is cut short meanwhile kills the process (SIGBUS).
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.npy_members import NpyHeader
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.array_files import damaged
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array, Indices


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
        """Of what is read."""
        return np.dtype(np.uint8 if self.header.dtype == np.uint8 else np.float32)

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: The file is gone or was cut short, or an example is not finite.
        """
        header = self.header
        row_bytes = math.prod(header.shape[1:]) * header.dtype.itemsize
        raw = np.empty((len(indices), row_bytes), np.uint8)
        try:
            with open_regular(self.path) as file:
                for row, index in zip(raw, indices.tolist(), strict=True):
                    _read_fully(file.fileno(), row.data, header.offset + index * row_bytes)
        except (OSError, EOFError) as error:
            raise damaged(self.path, "the NumPy .npy file that it was", error) from error
        values = raw.view(header.dtype).reshape(len(indices), *self.shape[1:])
        if self.dtype == np.uint8:
            return values
        with np.errstate(over="ignore"):
            converted = np.ascontiguousarray(values, np.float32)
        self._check_finite(values, converted, indices)
        return converted

    def _check_finite(
        self, values: Array, converted: npt.NDArray[np.float32], indices: Indices
    ) -> None:
        finite = np.isfinite(converted)
        if finite.all():
            return
        row = int(np.argmin(finite.reshape(len(finite), -1).all(axis=1)))
        value = values[row].ravel()[int(np.argmin(finite[row].ravel()))]
        raise ProblemError(
            Problem(
                code="data_features_not_finite",
                field=self.name.field,
                message=f"{self.name} holds NaN or infinite values, such as {value} in example "
                f"{int(indices[row]):,}.",
                hint="Replace or remove these examples; training on them turns every weight into "
                "NaN.",
            )
        )


def _read_fully(descriptor: int, into: memoryview, offset: int) -> None:
    done = 0
    while done < len(into):
        count = os.preadv(descriptor, [into[done:]], offset + done)
        if not count:
            raise EOFError(f"the file ends before byte {offset + len(into):,}")
        done += count
