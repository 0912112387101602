"""Weights in a file of HDF5: what it says of itself, found without TensorFlow."""

import math
import os
from pathlib import Path

import h5py

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.size_limits import check_size

_FIELD = "model.weights"
_SUFFIX = ".h5"


def check_weights(weights: h5py.File, path: str, field: str) -> None:
    """Refuse weights that would not fit into memory, or that stand in other files.

    A file of HDF5 can say that it has numbers that it does not hold: they are zero, and yet take
    room. And it can name other files to take them from: those could be anybody's.

    Args:
        weights: Open.
        path: For the words.
        field: The profile key that names the file.

    Raises:
        ProblemError: They are too large, or elsewhere.
        OSError: They are damaged.
    """
    sizes: list[int] = []
    elsewhere: list[str] = []

    def weigh(name: str, found: h5py.Group | h5py.Dataset) -> None:
        if isinstance(found, h5py.Dataset):
            sizes.append(math.prod(found.shape or ()) * found.dtype.itemsize)
            if found.external or found.is_virtual:
                elsewhere.append(name)

    def follow(name: str, link: h5py.HardLink | h5py.SoftLink | h5py.ExternalLink) -> None:
        if isinstance(link, h5py.ExternalLink):
            elsewhere.append(name)

    weights.visititems_links(follow)
    weights.visititems(weigh)
    if elsewhere:
        raise ProblemError(
            Problem(
                code="weights_elsewhere",
                field=field,
                message=f"{path} takes {elsewhere[0]} from another file, which is not followed.",
                hint="Save the weights again, in one file.",
            )
        )
    check_size(sum(sizes), path, field)


def check_weights_file(path: str) -> None:
    """Refuse a file that is not there, is no HDF5, or would not fit into memory.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    file = Path(path)
    if file.suffix != _SUFFIX:
        raise weights_problem(
            "weights_not_h5",
            f'{path} is not a file of weights: its name ends in "{file.suffix}", not in '
            f'"{_SUFFIX}".',
            "Save weights in Keras with model.save_weights('model.weights.h5').",
        )
    try:
        with open_regular(file) as opened, h5py.File(opened, "r") as weights:
            check_weights(weights, path, _FIELD)
    except FileNotFoundError as error:
        raise weights_problem(
            "weights_missing",
            f"The weights {path} do not exist.",
            "Choose another file, or put it back in its place.",
        ) from error
    except OSError as error:
        # Of the system where it has a number; else HDF5's own, about a file that it cannot read.
        if error.errno is not None and not _is_regular(file):
            raise weights_problem(
                "weights_unreadable",
                f"The weights {path} cannot be opened: {error.strerror or error}.",
                "Choose a file that you may read.",
            ) from error
        raise weights_problem(
            "weights_damaged",
            f"{path} is truncated or holds no weights.",
            "Save or copy it again; an interrupted copy looks like this.",
            f"{type(error).__name__}: {error}",
        ) from error


def _is_regular(file: Path) -> bool:
    return file.is_file() and os.access(file, os.R_OK)


def weights_problem(code: str, message: str, hint: str, detail: str = "") -> ProblemError:
    """A problem with weights that were chosen."""
    return ProblemError(Problem(code=code, field=_FIELD, message=message, hint=hint, detail=detail))
