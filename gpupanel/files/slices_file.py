"""How good a model is for each value of a column, in the ``.npz`` file of an evaluation.

Of tables, and of images with a CSV of labels. ``slice_columns`` has the names of columns, and the
other arrays an entry for each slice: ``slice_column`` (which of these), ``slice_value`` (in words:
a category, a range of numbers, "other values" or "empty"), ``slice_examples`` (how many have it)
and ``slice_measure`` (their accuracy; of values the mean absolute error). ``slice_column_count`` is
how many columns there are in all.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.files.evaluation_archive import opened_archive, read_names, written_names
from gpupanel.files.npy_members import read_npy

MOST_COLUMNS: Final = 100
MOST_SLICES: Final = 22
"""Of one column: its most frequent values, the others, and empty cells."""
_COLUMNS, _COLUMN, _VALUE = "slice_columns", "slice_column", "slice_value"
_EXAMPLES, _MEASURE, _COUNT = "slice_examples", "slice_measure", "slice_column_count"


@dataclass(frozen=True, slots=True, eq=False)
class ExampleSlices:
    """Examples by what stands in a column of theirs; slices of a column stand together.

    Attributes:
        names: Of the columns.
        column: Of each slice: which of them; ascending.
        values: In words.
        examples: How many; greater than 0.
        measures: Their accuracy, or mean absolute error.
        column_count: How many columns there are in all.
    """

    names: tuple[str, ...]
    column: npt.NDArray[np.int64]
    values: tuple[str, ...]
    examples: npt.NDArray[np.int64]
    measures: npt.NDArray[np.float64]
    column_count: int

    def __post_init__(self) -> None:
        """Refuse what are no slices.

        Raises:
            ValueError: And why.
        """
        shape, columns = (len(self.values),), len(self.names)
        arrays = (self.column, self.examples, self.measures)
        if any(each.shape != shape for each in arrays) or not 0 < columns <= MOST_COLUMNS:
            raise ValueError("there is not a column, a count and a measure for each slice")
        if self.column_count < columns:
            raise ValueError("there are more columns than in all")
        if len(self.values) > MOST_COLUMNS * MOST_SLICES or (np.diff(self.column) < 0).any():
            raise ValueError("there are too many slices, or they are not in order")
        if not np.array_equal(np.unique(self.column), np.arange(columns)):
            raise ValueError("a slice is of none of the columns, or a column has none")
        if int(self.examples.min()) < 1 or not np.isfinite(self.measures).all():
            raise ValueError("a slice has no examples, or no measure")

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays of the file."""
        return {
            _COLUMNS: written_names(self.names),
            _COLUMN: self.column,
            _VALUE: written_names(self.values),
            _EXAMPLES: self.examples,
            _MEASURE: self.measures,
            _COUNT: np.array([self.column_count], np.int64),
        }


def read_slices_file(path: Path) -> ExampleSlices | None:
    """Read them; whoever may write into the run's folder may have made the file.

    Returns:
        ``None`` where there are none: the data is no table, or an earlier version wrote none.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        if f"{_COLUMNS}.npy" not in archive.namelist():
            return None
        measures = read_npy(archive, f"{_MEASURE}.npy")
        if measures.dtype.kind != "f":
            raise ValueError(f"{_MEASURE} holds no numbers")
        counts = _whole_numbers(archive, _COUNT)
        if counts.shape != (1,):
            raise ValueError(f"{_COUNT} is no number")
        return ExampleSlices(
            names=read_names(archive, _COLUMNS),
            column=_whole_numbers(archive, _COLUMN),
            values=read_names(archive, _VALUE),
            examples=_whole_numbers(archive, _EXAMPLES),
            measures=measures.astype(np.float64),
            column_count=int(counts[0]),
        )


def _whole_numbers(archive: zipfile.ZipFile, name: str) -> npt.NDArray[np.int64]:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds no whole numbers")
    return array.astype(np.int64)
