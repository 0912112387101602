"""Columns that hold the numbers of rows, in whatever order."""

import re

import numpy as np
import numpy.typing as npt

FEWEST = 10
"""With fewer rows, whole numbers without a gap may be anything."""
_CHUNK = 2**20
_WRITTEN_BY_PANDAS = re.compile(r"Unnamed: \d+(\.\d+)*|__index_level_\d+__|level_\d+")


class RowNumbers:
    """Whether a column holds each number from a first to a last one once, in constant memory."""

    def __init__(self) -> None:
        self._count = 0
        self._mixed = 0
        self._least = self._most = 0
        self.are_whole = True

    def take(self, values: npt.NDArray[np.float64]) -> None:
        """Further values; NaN where a cell holds nothing."""
        if not self.are_whole or not len(values):
            return
        # NaN is no whole number, either.
        if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
            self.are_whole = False
            return
        whole = values.astype(np.int64)
        least, most = int(whole.min()), int(whole.max())
        self._least = min(self._least, least) if self._count else least
        self._most = max(self._most, most) if self._count else most
        self._count += len(whole)
        self._mixed = (self._mixed + _mixed(whole)) % 2**64

    @property
    def are_permutation(self) -> bool:
        """Whether they are numbers of rows in some order."""
        if not self.are_whole or self._count < FEWEST:
            return False
        if self._most - self._least + 1 != self._count:
            return False
        expected = 0
        for first in range(self._least, self._most + 1, _CHUNK):
            last = min(self._most + 1, first + _CHUNK)
            expected += _mixed(np.arange(first, last, dtype=np.int64))
        return expected % 2**64 == self._mixed


def is_index_name(name: str, place: int, *, has_names: bool) -> bool:
    """Whether pandas calls the column of its row labels so.

    Args:
        name: Of the column.
        place: It is the first one, or which.
        has_names: The first line names the columns: a first one without a name is an index.
    """
    return is_written_by_pandas(name) or (has_names and place == 0 and name == "column 1")


def is_written_by_pandas(name: str) -> bool:
    """Whether pandas calls row labels so that have no name, whatever they are."""
    return _WRITTEN_BY_PANDAS.fullmatch(name) is not None


def _mixed(whole: npt.NDArray[np.int64]) -> int:
    """The sum of what a mixing function (that of splitmix64) makes of each number."""
    mixed = whole.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return int(mixed.sum(dtype=np.uint64))
