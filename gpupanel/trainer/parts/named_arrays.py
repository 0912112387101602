"""Arrays of several inputs and outputs by their names, as ``predict.py`` reads and writes them."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


class ArraysError(ValueError):
    """Why a file of arrays cannot be used, as a sentence."""


def is_same_shape(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether numbers of that shape are an example: flat, or but for axes of the size 1."""
    if int(np.prod(given)) != int(np.prod(wanted)):
        return False
    sides = [side for side in given if side != 1]
    return len(sides) <= 1 or sides == [side for side in wanted if side != 1]


def examples_in(path: Path, wanted: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, Arrays]]:
    """Each example in a file with its name: all of it, or those along the first axis.

    Args:
        path: An ``.npz`` file; arrays of other names in it are passed over.
        wanted: The shape of each input of an example.

    Raises:
        ArraysError: It has other arrays.
        OSError: It cannot be read.
    """
    found, ones = _arrays_in(path, wanted), set[str]()
    for name, shape in wanted.items():
        given = found[name].shape
        if is_same_shape(given, tuple(shape)):
            ones.add(name)
        elif not (given and is_same_shape(given[1:], tuple(shape))):
            needed = f"that of an example {tuple(shape)}"
            raise ArraysError(f"{name} of {path} has the shape {given}, {needed}")
    if len(ones) == len(wanted):
        yield path.name, found
        return
    counts = {name: 1 if name in ones else len(array) for name, array in found.items()}
    if ones or len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise ArraysError(f"the inputs in {path} are of different numbers of examples: {shown}")
    for place in range(max(counts.values())):
        yield f"{path.name} [{place}]", {name: each[place] for name, each in found.items()}


def _arrays_in(path: Path, wanted: Mapping[str, Sequence[int]]) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            missing = [name for name in wanted if name not in archive]
            found = {name: archive[name] for name in wanted if name not in missing}
    except (ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ArraysError(f"{path} holds no arrays of numbers: {error}") from error
    if missing:
        raise ArraysError(f"{path} has no array called {', '.join(missing)}")
    for name, array in found.items():
        if array.dtype.kind not in "biuf":
            raise ArraysError(f"{name} of {path} holds no numbers, but {array.dtype}")
    return found


def by_names(found: Any, names: Sequence[str]) -> Arrays:  # noqa: ANN401 - as a model gives it
    """What a model gives for a batch of one, without the batch axis.

    Args:
        found: A tensor, or several in a dictionary or a list.
        names: Of the outputs; those of a list in this order.

    Raises:
        ArraysError: It gives others.
    """
    if not isinstance(found, dict):
        found = dict(zip(names, found if isinstance(found, list | tuple) else [found], strict=True))
    elif len(found) == len(names) == 1:  # TFLite calls an only one otherwise
        found = dict(zip(names, found.values(), strict=True))
    if sorted(found) != sorted(names):
        raise ArraysError(f"the model gives {', '.join(found)}, but {', '.join(names)} are known")
    return {name: np.asarray(found[name])[0] for name in names}


def write_stacked(path: Path, kept: Sequence[Arrays]) -> None:
    """Write an ``.npz`` file: an array by the name of each output, first axis the examples.

    Args:
        path: What stands there is replaced.
        kept: The outputs of each example, at least one.

    Raises:
        OSError: It cannot be written.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in kept[0]:
            joined = np.stack([each[name] for each in kept])
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, joined, allow_pickle=False)
