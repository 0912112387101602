"""The file of a confusion matrix: the cells that are not 0, in NumPy's ``.npz``.

Arrays ``row``, ``column`` and ``count``, an entry for each such cell, ordered by row and column:
so many examples of class ``row`` were taken for class ``column``. ``class_names`` has the names.
There are at most as many cells as examples, so that 10,000 classes fit where a whole matrix would
take gigabytes.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.files.npy_members import read_npy
from gpupanel.files.whole_files import open_regular_file, write_whole_file

LARGEST_BYTES = 2**30
"""Unpacked: 40 million cells."""
_LONGEST_NAME = 200
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_GREATEST_COUNT = 2**48

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCells:
    """The cells of a confusion matrix that are not 0.

    Attributes:
        rows: Of each cell: the class that its examples are of; ascending.
        columns: The class that they were taken for; ascending within a row.
        counts: How many examples; greater than 0.
        class_names: Of rows and columns.
    """

    rows: Counts
    columns: Counts
    counts: Counts
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what is no such matrix.

        Raises:
            ValueError: And why.
        """
        count = len(self.class_names)
        arrays = (self.rows, self.columns, self.counts)
        if any(array.ndim != 1 or len(array) != len(self.rows) for array in arrays):
            raise ValueError("a confusion matrix has a row, a column and a count for each cell")
        if not len(self.rows):
            return
        places = np.stack((self.rows, self.columns))
        if int(places.min()) < 0 or int(places.max()) >= count:
            raise ValueError(f"a cell is of none of the {count} classes")
        if int(self.counts.min()) < 1 or int(self.counts.max()) > _GREATEST_COUNT:
            raise ValueError("a count is none")
        if (np.diff(self.rows * count + self.columns) <= 0).any():
            raise ValueError("the cells are not in order")


def write_confusion(path: Path, cells: ConfusionCells) -> None:
    """Write the file, whole or not at all; longer names than any person reads are cut.

    Raises:
        OSError: It cannot be written.
    """
    names = np.asarray([name[:_LONGEST_NAME] for name in cells.class_names], np.str_)
    write_whole_file(
        path,
        lambda file: np.savez_compressed(
            file,
            allow_pickle=False,
            row=cells.rows,
            column=cells.columns,
            count=cells.counts,
            class_names=names,
        ),
    )


def read_confusion(path: Path) -> ConfusionCells:
    """Read the file; whoever may write into the run's folder may have made it.

    Raises:
        OSError: It cannot be read, or is a link or no file.
        ValueError: It holds something else, or more than :data:`LARGEST_BYTES`.
    """
    with open_regular_file(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive)
        except (OSError, ValueError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of its readers.
            raise ValueError(f"{type(error).__name__}: {error}") from error


def _read(archive: zipfile.ZipFile) -> ConfusionCells:
    members = archive.infolist()
    if any(member.compress_type not in _METHODS for member in members):
        raise ValueError("it is compressed in another way than NumPy does")
    if sum(member.file_size for member in members) > LARGEST_BYTES:
        raise ValueError(f"it unpacks to more than {LARGEST_BYTES:,} bytes")
    rows, columns, counts = (_whole_numbers(archive, name) for name in ("row", "column", "count"))
    names = read_npy(archive, "class_names.npy")
    if names.dtype.kind != "U" or names.ndim != 1:
        raise ValueError("class_names are no names")
    return ConfusionCells(rows, columns, counts, _texts(names.tolist()))


def _whole_numbers(archive: zipfile.ZipFile, name: str) -> Counts:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype} values")
    return array.astype(np.int64)


def _texts(names: Sequence[str]) -> tuple[str, ...]:
    """As they can be written again: half of a surrogate pair can be saved, but not shown."""
    return tuple(name.encode(errors="replace").decode() for name in names)
