"""The examples of an evaluation with the largest error, in its ``.npz`` file.

Of several labels at once, and of values: ``worst_index`` (the example's place in the data),
``worst_error`` (its loss, or of values the mean absolute error), largest first, ``worst_label`` and
``worst_predicted`` (its labels or values, and the probabilities or values that the model gave: a
row an example). Names of labels stand beside them (``label_names``).
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.files.evaluation_archive import (
    EvaluationPart,
    arrays_of,
    opened_archive,
    read_names,
)
from gpupanel.files.npy_members import read_npy
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.whole_files import whole_file

MOST_WORST = 1_000
_MOST_NUMBERS = 4_000_000
_INDEX, _ERROR = "worst_index", "worst_error"
_LABEL, _PREDICTED = "worst_label", "worst_predicted"

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class WorstExamples:
    """The examples with the largest error, that first.

    Attributes:
        index: Their places in the source.
        error: Of each.
        label: Shape [examples, labels or values].
        predicted: What the model gave, shape [examples, labels or values].
        names: Of the labels; empty: these are values.
    """

    index: npt.NDArray[np.int32]
    error: Floats
    label: Floats
    predicted: Floats
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together.

        Raises:
            ValueError: They do not.
        """
        count = len(self.index)
        if self.error.shape != (count,) or self.label.shape != self.predicted.shape:
            raise ValueError("there is not an entry for each of the worst examples")
        if self.label.ndim != 2 or len(self.label) != count:
            raise ValueError("there is not a row for each of the worst examples")
        if self.names and len(self.names) != self.label.shape[1]:
            raise ValueError("there is not a name for each label")
        if count and not 0 <= int(self.index.min()) <= int(self.index.max()) < 2**31:
            raise ValueError("an index is none")

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays of the file, without the names."""
        return {
            _INDEX: self.index,
            _ERROR: self.error,
            _LABEL: self.label,
            _PREDICTED: self.predicted,
        }


def most_worst(outputs: int) -> int:
    """How many examples are kept, of so many labels or values each."""
    return max(1, min(MOST_WORST, _MOST_NUMBERS // max(1, outputs)))


def write_worst(path: Path, worst: WorstExamples, *more: EvaluationPart | None) -> None:
    """Write the file of an evaluation of values, whole or not at all.

    Args:
        path: The file.
        worst: The examples with the largest error.
        more: What else stands in the same file, where there is such.

    Raises:
        OSError: It cannot be written.
    """
    with whole_file(path, private=True) as file:
        write_npz(file, arrays_of((worst, *more)), compressed=True)


def read_worst(path: Path) -> WorstExamples | None:
    """Read them; whoever may write into the run's folder may have made the file.

    Returns:
        ``None`` where the file does not say it.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        return _read(archive)


def _read(archive: zipfile.ZipFile) -> WorstExamples | None:
    there = set(archive.namelist())
    if f"{_INDEX}.npy" not in there:
        return None
    index = read_npy(archive, f"{_INDEX}.npy")
    if index.dtype.kind not in "iu" or index.ndim != 1 or index.dtype.itemsize > 4:
        raise ValueError(f"{_INDEX} holds no places")
    names = read_names(archive, "label_names") if "label_names.npy" in there else ()
    return WorstExamples(
        index.astype(np.int64).clip(-1, 2**31 - 1).astype(np.int32),
        _floats(archive, _ERROR),
        _floats(archive, _LABEL),
        _floats(archive, _PREDICTED),
        names,
    )


def _floats(archive: zipfile.ZipFile, name: str) -> Floats:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind != "f":
        raise ValueError(f"{name} holds no numbers")
    with np.errstate(over="ignore"):
        found = array.astype(np.float32)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds no numbers")
    return found
