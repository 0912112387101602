"""Images that stay in their files and are read when they are asked for."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


class UnreadableImages:
    """Counts the images that cannot be read.

    Attributes:
        most: So many may be.
    """

    def __init__(self) -> None:
        self.most = 0
        self._paths: set[str] = set()

    def are_too_many(self, path: str) -> bool:
        """Whether they are, with this one."""
        self._paths.add(path)
        return len(self._paths) > self.most


class DiskImages:
    """Reads images when they are asked for, as an array gives its rows.

    In the place of one that cannot be read stands the next one with the same label.

    Args:
        read: Gives the pixels of a file.
        size: Height, width and channels of what it gives.
        unreadable: Counts the images that it cannot read.
        paths: Of the images.
        labels: Theirs; ``None``: nothing stands in for another one.
    """

    def __init__(
        self,
        read: Callable[[str], Pixels],
        size: tuple[int, int, int],
        unreadable: UnreadableImages,
        paths: Sequence[str],
        labels: npt.NDArray[np.generic] | None = None,
    ) -> None:
        self.paths, self._labels = paths, labels
        self.shape = (len(paths), *size)
        self._read, self._unreadable = read, unreadable

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, rows: slice | npt.NDArray[np.integer]) -> Pixels:
        with ThreadPoolExecutor(8) as pool:
            pixels = list(pool.map(self._readable, np.arange(len(self.paths))[rows]))
        return np.stack(pixels) if pixels else np.zeros((0, *self.shape[1:]), np.uint8)

    def _readable(self, row: int) -> Pixels:
        try:
            return self._read(self.paths[row])
        except Exception:
            if self._unreadable.are_too_many(self.paths[row]) or self._labels is None:
                raise
            for other in rows_alike(self._labels, row):
                try:
                    return self._read(self.paths[other])
                except Exception:  # noqa: BLE001, S112 - whatever a damaged file makes of decoders
                    continue
            raise


def rows_alike(labels: npt.NDArray[np.generic], row: int) -> npt.NDArray[np.int32]:
    """The other rows with the same label, beginning after this one and once around."""
    each = labels.reshape(len(labels), -1)
    same = np.flatnonzero((each == each[row]).all(axis=1)).astype(np.int32)
    return np.concatenate([same[same > row], same[same < row]])
