"""How many examples reach which probability, class by class, in the ``.npz`` file of an evaluation.

Arrays ``score_own`` and ``score_other`` with a row for each of the first 1,000 classes (or labels)
and a column for each of the thresholds 0, 0.001 to 1: how many examples that are of the class, and
how many that are not, have a probability of it that reaches this threshold, but not the next one.
A probability and a threshold are compared as ``float32``. The sums of a row from a column on are
exact counts of what a threshold takes for the class, whatever the number of examples is.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.files.evaluation_archive import opened_archive
from gpupanel.files.npy_members import read_npy

STEPS: Final = 1_000
"""Thresholds lie so close together: from 0 to 1 there is one more."""
MOST_SCORED: Final = 1_000
"""Of more classes the first ones are counted: 16 MB before compression."""
THRESHOLDS: Final = (np.arange(STEPS + 1) / STEPS).astype(np.float32)
_GREATEST_COUNT: Final = 2**48
_OWN, _OTHER = "score_own", "score_other"

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """Examples by their probability of a class, between two thresholds each.

    Attributes:
        own: Of the class itself, shape [classes, thresholds].
        other: Not of the class, likewise.
    """

    own: Counts
    other: Counts

    def __post_init__(self) -> None:
        """Refuse what cannot be counts of the same examples.

        Raises:
            ValueError: And why.
        """
        classes = len(self.own)
        shape = (classes, STEPS + 1)
        if self.own.shape != shape or self.other.shape != shape or not classes:
            raise ValueError("there is not a count for each class and threshold")
        if classes > MOST_SCORED:
            raise ValueError(f"there are {classes:,} classes, more than are ever written")
        for counts in (self.own, self.other):
            if int(counts.min()) < 0 or int(counts.max()) > _GREATEST_COUNT:
                raise ValueError("a count is none")
        if len(np.unique(self.own.sum(axis=1) + self.other.sum(axis=1))) > 1:
            raise ValueError("classes are counted on different numbers of examples")

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays of the file."""
        return {_OWN: self.own, _OTHER: self.other}


def read_score_counts(path: Path) -> ScoreCounts | None:
    """Read them; whoever may write into the run's folder may have made the file.

    Returns:
        ``None`` where an earlier version counted none.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        if f"{_OWN}.npy" not in archive.namelist():
            return None
        return ScoreCounts(_whole_numbers(archive, _OWN), _whole_numbers(archive, _OTHER))


def _whole_numbers(archive: zipfile.ZipFile, name: str) -> Counts:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu" or array.ndim != 2:
        raise ValueError(f"{name} holds no counts")
    return array.astype(np.int64)
