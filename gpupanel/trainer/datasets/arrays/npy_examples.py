"""One example of a ``.npy`` file that a person gives to a model."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpupanel.domain.data import Axes
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.npy_members import NpyHeader, read_header, read_npy_file
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.arrays.files import check_file, damaged
from gpupanel.trainer.datasets.arrays.npy_rows import NpyRows
from gpupanel.trainer.datasets.checks import NUMBER_KINDS, ArrayName, checked_features
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.single_data import example_refused
from gpupanel.trainer.parts.input_shape import fitting
from gpupanel.trainer.size_limits import check_size

NPY = ".npy"
_KIND = "a NumPy .npy file"
Shape = tuple[int, ...]


def read_npy_example(
    path: Path, place: int, axes: Axes | None, wanted: tuple[int | None, ...] | None
) -> tuple[Array, int]:
    """An example, and how many the file holds.

    Args:
        path: Of the file: several examples, or one without an axis that counts them.
        place: Which of them.
        axes: In which order the training had them; ``None``: examples first, channels last.
        wanted: The shape that the model takes; ``None``: nobody knows.

    Returns:
        ``uint8`` or ``float32``, shape [1, ...], its channels last.

    Raises:
        ProblemError: The file cannot be read, or its examples do not fit the model.
    """
    check_file(path, "")
    name = ArrayName(source=str(path), name=path.stem, field="")
    header = _header(path)
    if header.dtype.kind not in NUMBER_KINDS or 0 in header.shape:
        checked_features(np.empty((0,) if 0 in header.shape else (1,), header.dtype), name)
    are_last = axes is Axes.EXAMPLES_LAST
    are_several = _are_several(header.shape, axes, wanted, path)
    count = header.shape[-1 if are_last else 0] if are_several else 1
    if place >= count:
        raise ProblemError(
            example_refused(f"{_shown(path)} holds {count:,} examples.", "Choose one of them.")
        )
    if header.is_fortran or (are_last and are_several):
        # Its examples do not lie in one piece.
        whole = _whole(path)
        rows = np.moveaxis(whole, -1, 0) if are_last else whole
        one = rows[place : place + 1] if are_several else whole[np.newaxis]
        example = checked_features(one, name)
    else:
        stored = header if are_several else replace(header, shape=(1, *header.shape))
        example = NpyRows(path, stored, name).read(np.array([place], np.int32))
    if axes is Axes.CHANNELS_FIRST:
        example = np.moveaxis(example, 1, -1)
    return np.ascontiguousarray(example), count


def _are_several(
    shape: Shape, axes: Axes | None, wanted: tuple[int | None, ...] | None, path: Path
) -> bool:
    """Whether one axis of the file counts examples; otherwise it is one itself.

    Raises:
        ProblemError: In neither way it fits the model.
    """
    one_of_several = shape[:-1] if axes is Axes.EXAMPLES_LAST else shape[1:]
    if wanted is None:
        return len(shape) > 1
    for are_several, one in ((True, one_of_several), (False, shape)):
        moved = (*one[1:], *one[:1]) if axes is Axes.CHANNELS_FIRST else one
        if (shape or not are_several) and fitting(wanted, moved) is not None:
            return are_several
    raise ProblemError(
        example_refused(
            f"{_shown(path)} has the shape {_words(shape)}: that is no example of "
            f"{_words(wanted)} as the model takes it, and not several of them.",
            "Save it with the shape that the training examples have.",
        )
    )


def _header(path: Path) -> NpyHeader:
    try:
        with open_regular(path) as file:
            return read_header(file, os.fstat(file.fileno()).st_size, path.name)
    except (ValueError, EOFError, OSError) as error:
        raise damaged(path, _KIND, error, "") from error


def _whole(path: Path) -> Array:
    try:
        with open_regular(path) as file:
            check_size(os.fstat(file.fileno()).st_size, str(path), "")
            return read_npy_file(file)
    except (ValueError, EOFError, OSError) as error:
        raise damaged(path, _KIND, error, "") from error


def _shown(path: Path) -> str:
    return visible_line(as_utf8(path.name))


def _words(shape: tuple[int | None, ...]) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(str(each or "any") for each in shape) or "a number"
