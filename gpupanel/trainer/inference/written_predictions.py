"""Predictions read back from a run's file, which whoever may write there may have made."""

import csv
import io
import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from gpupanel.domain.shown_examples import ShownClass, ShownExample
from gpupanel.domain.source_settings import MOST_OUTPUTS
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.npy_members import npy_parts, read_header, read_member_header, read_npy
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.shown_labels import array_in_words, readable_label, top_classes
from gpupanel.trainer.inference.array_predictions import INDEX, OUTPUT_NAMES
from gpupanel.trainer.size_limits import check_unpacked

_MOST_SHOWN_BYTES = 2**30
"""Of the arrays of one output, as many of them as are shown at once."""
_LONGEST_LINE = 16 * 2**20
"""The longest line of a CSV: 100,000 classes with their probabilities."""
_PROBABILITY = "probability of "


@dataclass(frozen=True, slots=True)
class WrittenPredictions:
    """Some predictions of a file, without images.

    Attributes:
        total: How many the file holds.
    """

    examples: tuple[ShownExample, ...]
    total: int


def read_predictions(path: Path, first: int, count: int) -> WrittenPredictions:
    """Some of the predictions of a run.

    Args:
        path: ``predictions.npz`` or ``predictions.csv``.
        first: How many are passed over.
        count: How many are read at most.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
        ProblemError: It would not fit into memory.
        ValueError: It holds something else.
    """
    with open_to_read(path) as file:
        try:
            if path.suffix == ".csv":
                return _read_csv(file, first, count)
            with zipfile.ZipFile(file) as archive:
                if f"{OUTPUT_NAMES}.npy" in archive.namelist():
                    return _read_arrays(archive, first, count)
                check_unpacked(archive, path, "inference.output")
                return _read_npz(archive, first, count)
        except (OSError, ValueError, MemoryError):
            raise
        except (csv.Error, zipfile.BadZipFile, IndexError, KeyError, StopIteration) as error:
            # Whatever the bytes of a damaged file happen to make of its readers.
            raise ValueError(f"{type(error).__name__}: {error}") from error


def _read_npz(archive: zipfile.ZipFile, first: int, count: int) -> WrittenPredictions:
    there = {name.removesuffix(".npy") for name in archive.namelist()}
    index = _member(archive, "index", "iu")
    numbers = _member(archive, "values" if "values" in there else "probabilities", "f")
    names = _member(archive, "class_names", "U").tolist() if "class_names" in there else []
    labels = _member(archive, "label", "iufb") if "label" in there else None
    files = _member(archive, "file_name", "U") if "file_name" in there else None
    for each in (numbers, labels, files):
        if each is not None and len(each) != len(index):
            raise ValueError("there is not one for each example")
    numbers = numbers.reshape(len(index), -1)
    if names and len(names) != numbers.shape[1]:
        raise ValueError("there is not a name for each class")
    predicted = _member(archive, "predicted", "iu") if "predicted" in there else None
    of_labels = predicted is not None and predicted.ndim == 2
    chosen = slice(first, first + count)
    rows = zip(index[chosen].tolist(), numbers[chosen], strict=True)
    return WrittenPredictions(
        tuple(
            ShownExample(
                index=place,
                name="" if files is None else as_utf8(str(files[first + number])),
                label=""
                if labels is None
                else readable_label(labels[first + number], names, of_labels=of_labels),
                predicted=top_classes(row, names),
            )
            for number, (place, row) in enumerate(rows)
        ),
        len(index),
    )


def _read_arrays(archive: zipfile.ZipFile, first: int, count: int) -> WrittenPredictions:
    """Of a model that gives arrays: a part of each, however large the file is."""
    (total,) = read_member_header(archive, f"{INDEX}.npy").shape
    names = _rows(archive, OUTPUT_NAMES, "U", 0, MOST_OUTPUTS).tolist()
    index = _rows(archive, INDEX, "iu", first, count).tolist()
    outputs = {name: _rows(archive, name, "f", first, count) for name in names}
    if any(len(array) != len(index) for array in outputs.values()):
        raise ValueError("there is not one for each example")
    return WrittenPredictions(
        tuple(
            ShownExample(
                index=place,
                predicted=(
                    ShownClass(
                        name=", ".join(
                            f"{name} {array_in_words(array[row])}"
                            for name, array in outputs.items()
                        )
                    ),
                ),
            )
            for row, place in enumerate(index)
        ),
        total,
    )


def _rows(
    archive: zipfile.ZipFile, name: str, kinds: str, first: int, count: int
) -> npt.NDArray[np.generic]:
    """Some rows of an array in the archive; none of the others is held."""
    member = f"{name}.npy"
    with archive.open(member) as file:
        header = read_header(file, archive.getinfo(member).file_size, member)
        if header.dtype.kind not in kinds or not header.shape:
            raise ValueError(f"{name} holds {header.dtype} values")
        row_bytes = math.prod(header.shape[1:]) * header.dtype.itemsize
        if count * row_bytes > _MOST_SHOWN_BYTES:
            raise ValueError(f"{name} is too large to be shown")
        file.seek(header.offset + first * row_bytes)
        here = replace(
            header, shape=(max(0, min(count, header.shape[0] - first)), *header.shape[1:])
        )
        return next(npy_parts(file, here, count), np.empty((0, *here.shape[1:]), here.dtype))


def _member(archive: zipfile.ZipFile, name: str, kinds: str) -> Array:
    array = read_npy(archive, f"{name}.npy")
    if array.dtype.kind not in kinds or array.ndim == 0:
        raise ValueError(f"{name} holds {array.dtype} values")
    return array


def _read_csv(file: BinaryIO, first: int, count: int) -> WrittenPredictions:
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    try:
        return _read_rows(csv.reader(_lines(text)), first, count)
    finally:
        text.detach()  # the file is closed by whoever opened it


def _read_rows(rows: Iterator[list[str]], first: int, count: int) -> WrittenPredictions:
    head = next(rows, [])
    if head[:1] != ["index"]:
        raise ValueError("its first column is not an index")
    names = [each.removeprefix(_PROBABILITY) for each in head if each.startswith(_PROBABILITY)]
    firsts = [place for place, each in enumerate(head) if each.startswith((_PROBABILITY, "value"))]
    if not firsts:
        raise ValueError("it holds no predictions")
    labels = [place for place, each in enumerate(head) if each in ("label_name", "label_names")]
    labels = labels or [place for place, each in enumerate(head) if each.startswith("label")]
    has_files = head[1:2] == ["file"]
    shown = tuple(
        ShownExample(
            index=int(row[0]),
            name=row[1] if has_files else "",
            label=", ".join(row[place].replace("|", ", ") for place in labels),
            predicted=top_classes(np.array([float(row[place]) for place in firsts]), names),
        )
        for row in islice(rows, first, first + count)
    )
    return WrittenPredictions(shown, first + len(shown) + sum(1 for _ in rows))


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    while line := text.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"a line has more than {_LONGEST_LINE:,} characters")
        yield line
