"""The metrics of several labels at once, in the ``.npz`` file of an evaluation.

Arrays with an entry for each label: ``label_names``, ``label_examples`` (how many examples have
it), ``label_predicted`` (how many were said to have it), ``label_right`` (how many of these do).
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics
from gpupanel.files.confusion_file import Counts
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

_NUMBERS = ("label_examples", "label_predicted", "label_right")


def write_label_metrics(
    path: Path, names: Sequence[str], counts: Counts, *more: EvaluationPart | None
) -> None:
    """Write the file, whole or not at all; longer names than any person reads are cut.

    Args:
        path: The file.
        names: Of the labels.
        counts: Shape [3, labels]: how many have it, are said to have it, rightly so.
        more: What else stands in the same file, where there is such.

    Raises:
        OSError: It cannot be written.
    """
    arrays = {**dict(zip(_NUMBERS, counts, strict=True)), **arrays_of(more)}
    with whole_file(path, private=True) as file:
        write_npz(file, {"label_names": written_names(names), **arrays}, compressed=True)


def read_label_metrics(path: Path) -> LabelMetrics:
    """Read the file; whoever may write into the run's folder may have made it.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ValueError: It holds something else, or more than fits.
    """
    with opened_archive(path) as archive:
        return _read(archive)


def _counts(archive: zipfile.ZipFile, name: str, labels: int) -> Counts:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in "iu" or array.shape != (labels,):
        raise ValueError(f"{name} is not a count for each label")
    counts = array.astype(np.int64)
    if (counts < 0).any():
        raise ValueError(f"{name} is not a count for each label")
    return counts


def _read(archive: zipfile.ZipFile) -> LabelMetrics:
    names = read_names(archive, "label_names")
    counts = [_counts(archive, name, len(names)) for name in _NUMBERS]
    return LabelMetrics(
        classes=tuple(
            ClassMetrics(
                name=name,
                examples=examples,
                predicted=predicted,
                right=right,
            )
            for name, examples, predicted, right in zip(
                names, *(each.tolist() for each in counts), strict=True
            )
        )
    )
