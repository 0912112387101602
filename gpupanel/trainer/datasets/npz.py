"""Arrays in a NumPy ``.npz`` file, without pickle: a data file must not run code."""

import errno
import zipfile
from pathlib import Path
from typing import Literal

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import NpzData, Scaling
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.npy_members import read_npy
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.checks import (
    ArrayName,
    check_lengths,
    checked_classes,
    checked_features,
)
from gpupanel.trainer.datasets.examples import AllExamples, Array, DataSet, Examples
from gpupanel.trainer.datasets.source import Reading, Source
from gpupanel.trainer.size_limits import check_unpacked


def read_npz(data: NpzData, *, must_differ: bool = True) -> DataSet:
    """The examples in the file, checked; ``uint8`` features are taken for pixels 0 to 255.

    Args:
        data: The file, and which of its arrays.
        must_differ: Refuse labels that are all the same.

    Raises:
        ProblemError: The file or an array in it cannot be used.
    """
    fields = {data.features: "data.features", data.labels: "data.labels"}
    arrays = read_arrays(Path(data.path), fields)
    features = _features(data, arrays)
    labels = _labels(data, arrays, features, must_differ=must_differ)
    pixels = features.dtype == np.uint8
    return DataSet(
        training=Examples(features=features, labels=labels),
        class_names=_class_names(data, labels),
        scaling=Scaling.DIVIDE if pixels else Scaling.NONE,
        greatest=255.0 if pixels else 1.0,
    )


def read_all_npz(data: NpzData, *, needs_labels: bool) -> AllExamples:
    """The features in the file, and the labels if they are there; all may be of one class.

    Raises:
        ProblemError: The file or an array in it cannot be used, or lacks labels that are needed.
    """
    path = Path(data.path)
    fields = {data.features: "data.features"}
    if needs_labels or data.labels in array_names(path):
        fields[data.labels] = "data.labels"
    arrays = read_arrays(path, fields)
    features, labels = _features(data, arrays), None
    if data.labels in fields:
        labels = _labels(data, arrays, features, must_differ=False)
    return AllExamples(
        features=features,
        labels=labels,
        class_names=_class_names(data, labels),
        training_count=len(features),
        class_count_is_known=not data.counts_classes_by_labels,
    )


def _features(data: NpzData, arrays: dict[str, Array]) -> Array:
    return checked_features(arrays[data.features], _name(data, "features"))


def _labels(
    data: NpzData, arrays: dict[str, Array], features: Array, *, must_differ: bool
) -> Array:
    of = _name(data, "labels")
    labels = checked_classes(arrays[data.labels], of, data.class_count, must_differ=must_differ)
    check_lengths(features, labels, _name(data, "features"), of)
    return labels


def _name(data: NpzData, key: Literal["features", "labels"]) -> ArrayName:
    name = data.features if key == "features" else data.labels
    return ArrayName(source=str(Path(data.path)), name=name, field=f"data.{key}")


def _class_names(data: NpzData, labels: Array | None) -> tuple[str, ...]:
    count = data.class_count or (0 if labels is None else int(labels.max()) + 1)
    return tuple(str(number) for number in range(count))


def array_names(path: Path) -> tuple[str, ...]:
    """The names of the arrays in an ``.npz`` file.

    Raises:
        ProblemError: The file is missing, unreadable, cut short or no ``.npz``.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())
    except (ProblemError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes of a damaged file happen to make of its readers.
        raise damaged(path, "a NumPy .npz file", error) from error


def read_arrays(path: Path, fields: dict[str, str]) -> dict[str, Array]:
    """Arrays of an ``.npz`` file by name.

    Args:
        path: The file.
        fields: The names wanted, each with the profile key that a problem with it is about.

    Raises:
        ProblemError: The file is missing, unreadable, cut short, no ``.npz``, lacks an array, or
            the array holds Python objects.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _members(archive, path, fields)
    except (ProblemError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes of a damaged file happen to make of its readers.
        raise damaged(path, "a NumPy .npz file", error) from error


def _members(archive: zipfile.ZipFile, path: Path, fields: dict[str, str]) -> dict[str, Array]:
    check_unpacked(archive, path, "data.path")
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    for name, field in fields.items():
        if name not in names:
            raise _array_missing(path, name, names, field)
    return {name: _member(archive, path, name, field) for name, field in fields.items()}


def _member(archive: zipfile.ZipFile, path: Path, name: str, field: str) -> Array:
    member = f"{name}.npy" if f"{name}.npy" in archive.namelist() else name
    try:
        return read_npy(archive, member)
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise damaged(path, f'an .npz file with an array in "{name}"', error) from error
        raise ProblemError(
            Problem(
                code="data_array_of_objects",
                field=field,
                message=f'Array "{name}" in {path} holds Python objects; reading them would run '
                "code from the file, so gpupanel refuses to.",
                hint="Save it with a number type, for example array.astype(numpy.float32).",
            )
        ) from error


def check_file(path: Path) -> None:
    """Refuse a path that is not chosen, not there, no file, or not readable.

    Raises:
        ProblemError: It cannot be opened.
    """
    if path == Path():
        raise ProblemError(
            Problem(
                code="data_path_missing",
                field="data.path",
                message="No data file is chosen.",
                hint="Choose an .npz file.",
            )
        )
    try:
        with open_regular(path):
            pass
    except FileNotFoundError as error:
        raise ProblemError(
            Problem(
                code="data_file_missing",
                field="data.path",
                message=f"The data file {path} does not exist.",
                hint="Choose another file, or put it back in its place.",
            )
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def damaged(path: Path, kind: str, error: Exception) -> ProblemError:
    """The problem of a file that is cut short or not what it says; or that cannot be read."""
    # What zipfile says by itself has no number, and a place before the file's start is invalid.
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return _unreadable(path, error)
    return ProblemError(
        Problem(
            code="data_file_damaged",
            field="data.path",
            message=f"{path} is cut short or is not {kind}.",
            hint="Get or write the file again; a copy that was broken off looks like this.",
            detail=f"{type(error).__name__}: {error}",
        )
    )


def _unreadable(path: Path, error: OSError) -> ProblemError:
    return ProblemError(
        Problem(
            code="data_file_unreadable",
            field="data.path",
            message=f"The data file {path} cannot be read: {error.strerror}.",
            hint="Choose a file that you may read, or look at the disk that holds it.",
        )
    )


def _array_missing(path: Path, name: str, names: list[str], field: str) -> ProblemError:
    there = ", ".join(f'"{other}"' for other in names) or "none"
    return ProblemError(
        Problem(
            code="data_array_missing",
            field=field,
            message=f'{path} has no array "{name}"; the arrays in it: {there}.',
            hint=f"Set {field} to one of these names.",
        )
    )


class _Npz(Source[NpzData]):
    """See :func:`read_npz`."""

    @override
    def read(self, data: NpzData, reading: Reading) -> DataSet:
        return read_npz(data, must_differ=reading.must_differ)

    @override
    def read_all(self, data: NpzData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        return read_all_npz(data, needs_labels=needs_labels)


SOURCE = _Npz()
