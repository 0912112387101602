"""The file of a confusion matrix: the cells that are not 0, in NumPy's ``.npz``.

Arrays ``row``, ``column`` and ``count``, an entry for each such cell, ordered by row and column:
so many examples of class ``row`` were taken for class ``column``. ``class_names`` has the names.
There are at most as many cells as examples, so that 10,000 classes fit where a whole matrix would
take gigabytes.

Beside them stands what became of each example, an entry each in the order of the data: ``index``
(its place there), ``label`` and ``predicted`` (classes), ``probability`` (of the predicted class)
and ``label_probability`` (of the label); of more than 20 million examples this is left out.
"""

import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.files.evaluation_archive import (
    EvaluationPart,
    arrays_of,
    opened_archive,
    read_names,
    written_names,
)
from gpupanel.files.npy_members import read_npy
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.whole_files import whole_file

MOST_EXAMPLES = 20_000_000
"""The most examples whose single outcomes are stored: 400 MB before compression."""
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


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedExamples:
    """What became of each example, in the order of the data.

    Attributes:
        index: Its place in the source.
        label: The class that it is of.
        predicted: The class that it was taken for.
        probability: Of the predicted class.
        label_probability: Of the label.
    """

    index: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    predicted: npt.NDArray[np.int32]
    probability: npt.NDArray[np.float32]
    label_probability: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        """Refuse arrays of different lengths.

        Raises:
            ValueError: They are.
        """
        arrays = [getattr(self, each.name) for each in fields(self)]
        if any(each.shape != (len(self.index),) for each in arrays):
            raise ValueError("an evaluation has an entry for each example")


def write_confusion(
    path: Path,
    cells: ConfusionCells,
    examples: EvaluatedExamples | None = None,
    *more: EvaluationPart | None,
) -> None:
    """Write the file, whole or not at all; longer names than any person reads are cut.

    Args:
        path: The file.
        cells: The matrix.
        examples: What became of each; of too many it is left out.
        more: What else stands in the same file, where there is such.

    Raises:
        OSError: It cannot be written.
    """
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "row": cells.rows,
        "column": cells.columns,
        "count": cells.counts,
        "class_names": written_names(cells.class_names),
    }
    if examples is not None and len(examples.index) <= MOST_EXAMPLES:
        arrays |= {each.name: getattr(examples, each.name) for each in fields(examples)}
    arrays |= arrays_of(more)
    with whole_file(path, private=True) as file:
        write_npz(file, arrays, compressed=True)


def read_confusion(path: Path) -> ConfusionCells:
    """Read the file; whoever may write into the run's folder may have made it.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        return _read(archive)


def read_evaluated(path: Path) -> tuple[EvaluatedExamples | None, tuple[str, ...]]:
    """What became of each example, and the names of the classes; other users may write the file.

    Returns:
        ``None`` where the file does not say it: of too many examples, or by an earlier version.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        names = _read(archive).class_names
        return _read_examples(archive, len(names)), names


def _read_examples(archive: zipfile.ZipFile, class_count: int) -> EvaluatedExamples | None:
    there = set(archive.namelist())
    if not {f"{each.name}.npy" for each in fields(EvaluatedExamples)} <= there:
        return None
    index, label, predicted = (
        _whole_numbers(archive, name) for name in ("index", "label", "predicted")
    )
    for classes in (label, predicted):
        if len(classes) and not 0 <= int(classes.min()) <= int(classes.max()) < class_count:
            raise ValueError(f"an example is of none of the {class_count} classes")
    if len(index) and not 0 <= int(index.min()) <= int(index.max()) < 2**31:
        raise ValueError("an index is none")
    return EvaluatedExamples(
        index.astype(np.int32),
        label.astype(np.int32),
        predicted.astype(np.int32),
        _probabilities(archive, "probability"),
        _probabilities(archive, "label_probability"),
    )


def _probabilities(archive: zipfile.ZipFile, name: str) -> npt.NDArray[np.float32]:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"{name} holds no probabilities")
    return array.astype(np.float32)


def _read(archive: zipfile.ZipFile) -> ConfusionCells:
    rows, columns, counts = (_whole_numbers(archive, name) for name in ("row", "column", "count"))
    return ConfusionCells(rows, columns, counts, read_names(archive, "class_names"))


def _whole_numbers(archive: zipfile.ZipFile, name: str) -> Counts:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype} values")
    return array.astype(np.int64)
