"""What an evaluation leaves in NumPy's ``.npz``, read without believing it."""

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.npy_members import read_npy

LARGEST_BYTES: Final = 2**30
"""Unpacked: 40 million cells of a confusion matrix."""
_LONGEST_NAME: Final = 200
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class EvaluationPart(Protocol):
    """What stands in the file of an evaluation beside what is counted in it."""

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """By their names there."""
        ...


def arrays_of(parts: Iterable[EvaluationPart | None]) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of all parts that there are."""
    return {name: each for part in parts if part for name, each in part.arrays().items()}


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; whoever may write into the run's folder may have made it.

    What its readers raise within is a ``ValueError``, too.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than :data:`LARGEST_BYTES`.
    """
    with open_to_read(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                _check(archive.infolist())
                yield archive
        except (OSError, ValueError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of its readers.
            raise ValueError(f"{type(error).__name__}: {error}") from error


def _check(members: Sequence[zipfile.ZipInfo]) -> None:
    if any(member.compress_type not in _METHODS for member in members):
        raise ValueError("it is compressed in another way than NumPy does")
    if sum(member.file_size for member in members) > LARGEST_BYTES:
        raise ValueError(f"it unpacks to more than {LARGEST_BYTES:,} bytes")


def written_names(names: Sequence[str]) -> npt.NDArray[np.str_]:
    """The names as they are written: very long ones are truncated."""
    return np.asarray([name[:_LONGEST_NAME] for name in names], np.str_)


def read_names(archive: zipfile.ZipFile, member: str) -> tuple[str, ...]:
    """Names, as they can be written again: half of a surrogate pair can be saved, but not shown.

    Args:
        archive: Holds them.
        member: Without ``.npy``.

    Raises:
        ValueError: They are none.
    """
    names = read_npy(archive, f"{member}.npy")
    if names.dtype.kind != "U" or names.ndim != 1:
        raise ValueError(f"{member} are not names")
    return tuple(name.encode(errors="replace").decode() for name in names.tolist())
