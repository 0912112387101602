"""True and predicted values of an evaluation's examples, in its ``.npz`` file.

Of values alone: ``pair_true`` and ``pair_predicted``, a row an example, in the order of the data.
Of more examples than :func:`most_pairs` they are of a sample, drawn evenly by a fixed seed.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.files.evaluation_archive import opened_archive
from gpupanel.files.npy_members import read_npy

MOST_PAIRS: Final = 10_000
"""More points than that cannot be told apart in a picture."""
_MOST_NUMBERS: Final = 50_000
_TRUE, _PREDICTED = "pair_true", "pair_predicted"

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ValuePairs:
    """What examples have and what the model gave them.

    Attributes:
        true: Shape [examples, values].
        predicted: Likewise.
    """

    true: Floats
    predicted: Floats

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together.

        Raises:
            ValueError: They do not, there are too many, or not all of them are finite.
        """
        if self.true.shape != self.predicted.shape or self.true.ndim != 2 or not self.true.size:
            raise ValueError("there is not a true value for each predicted one")
        if len(self.true) > most_pairs(self.true.shape[1]):
            raise ValueError(f"there are {len(self.true):,} examples, more than are ever written")
        if not (np.isfinite(self.true).all() and np.isfinite(self.predicted).all()):
            raise ValueError("a value is no finite number")

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays of the file."""
        return {_TRUE: self.true, _PREDICTED: self.predicted}


def most_pairs(values: int) -> int:
    """How many examples are kept, of so many values each."""
    return max(1, min(MOST_PAIRS, _MOST_NUMBERS // max(1, values)))


def read_value_pairs(path: Path) -> ValuePairs:
    """Read them; whoever may write into the run's folder may have made the file.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        return ValuePairs(_floats(archive, _TRUE), _floats(archive, _PREDICTED))


def _floats(archive: zipfile.ZipFile, name: str) -> Floats:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind != "f":
        raise ValueError(f"{name} holds no numbers")
    with np.errstate(over="ignore"):
        return array.astype(np.float32)
