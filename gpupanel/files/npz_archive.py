"""Arrays of numbers, written into one of NumPy's archives."""

from collections.abc import Callable, Mapping
from typing import IO

import numpy as np
import numpy.typing as npt


def write_npz(
    file: IO[bytes], arrays: Mapping[str, npt.NDArray[np.generic]], *, compressed: bool = False
) -> None:
    """Write them, as :func:`numpy.savez` does; Python objects never.

    Its ``allow_pickle=False`` is not used: NumPy before 2.2 takes that for an array of this name.

    Args:
        file: Gets the archive.
        arrays: By their names; each has any shape.
        compressed: Take longer for less.

    Raises:
        ValueError: One holds Python objects.
        OSError: It cannot be written.
    """
    objects = [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]
    if objects:
        message = f"Python objects are not saved: {', '.join(objects)}"
        raise ValueError(message)
    save: Callable[..., None] = np.savez_compressed if compressed else np.savez
    save(file, **arrays)
