"""The figures of several labels at once, in the ``.npz`` file of an evaluation.

Arrays with an entry for each label: ``label_names``, ``label_examples`` (how many examples have
it), ``label_predicted`` (how many were said to have it), ``label_right`` (how many of these do).
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gpupanel.domain.confusion import ClassFigures, LabelFigures
from gpupanel.files.confusion_file import LARGEST_BYTES, Counts
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.npy_members import read_npy
from gpupanel.files.whole_files import whole_file
from gpupanel.files.worst_file import WorstExamples

_LONGEST_NAME = 200
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_NUMBERS = ("label_examples", "label_predicted", "label_right")


def write_label_figures(
    path: Path, names: Sequence[str], counts: Counts, worst: WorstExamples | None = None
) -> None:
    """Write the file, whole or not at all; longer names than any person reads are cut.

    Args:
        path: The file.
        names: Of the labels.
        counts: Shape [3, labels]: how many have it, are said to have it, rightly so.
        worst: The examples with the largest loss, which stand in the same file.

    Raises:
        OSError: It cannot be written.
    """
    arrays = {**dict(zip(_NUMBERS, counts, strict=True)), **(worst.arrays() if worst else {})}
    cut = np.asarray([name[:_LONGEST_NAME] for name in names], np.str_)
    with whole_file(path, private=True) as file:
        np.savez_compressed(file, allow_pickle=False, label_names=cut, **arrays)


def read_label_figures(path: Path) -> LabelFigures:
    """Read the file; whoever may write into the run's folder may have made it.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with open_to_read(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive)
        except (OSError, ValueError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of its readers.
            raise ValueError(f"{type(error).__name__}: {error}") from error


def _counts(archive: zipfile.ZipFile, name: str, labels: int) -> Counts:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu" or array.shape != (labels,):
        raise ValueError(f"{name} is not a count for each label")
    counts = array.astype(np.int64)
    if (counts < 0).any():
        raise ValueError(f"{name} is not a count for each label")
    return counts


def _read(archive: zipfile.ZipFile) -> LabelFigures:
    members = archive.infolist()
    if any(member.compress_type not in _METHODS for member in members):
        raise ValueError("it is compressed in another way than NumPy does")
    if sum(member.file_size for member in members) > LARGEST_BYTES:
        raise ValueError(f"it unpacks to more than {LARGEST_BYTES:,} bytes")
    names = read_npy(archive, "label_names.npy")
    if names.dtype.kind != "U" or names.ndim != 1:
        raise ValueError("label_names are no names")
    counts = [_counts(archive, name, len(names)) for name in _NUMBERS]
    return LabelFigures(
        classes=tuple(
            ClassFigures(
                name=name.encode(errors="replace").decode(),
                examples=examples,
                predicted=predicted,
                right=right,
            )
            for name, examples, predicted, right in zip(
                names.tolist(), *(each.tolist() for each in counts), strict=True
            )
        )
    )
