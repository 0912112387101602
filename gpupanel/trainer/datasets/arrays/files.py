"""Files of NumPy arrays, opened without pickle: a data file must not run code.

One ``.npz`` file holds several arrays; a ``.npy`` file holds one, and those beside it in its folder
belong to it.
"""

import errno
import os
import zipfile
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol, TypeVar

import numpy as np
from typing_extensions import override

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.npy_members import (
    NpyHeader,
    npy_parts,
    read_header,
    read_member_header,
    read_npy,
    read_npy_file,
)
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.checks import ArrayName, checked_parts, rows_at_once
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.size_limits import check_size, check_unpacked

_SUFFIX = ".npy"
_MOST_ARRAYS = 1000
"""More are not read: a folder may have a million files."""

Found = TypeVar("Found")


class ArrayFile(Protocol):
    """Arrays by name.

    Attributes:
        path: The file that was chosen.
        key: The profile key that names it.
        headers: Of the arrays that there are; ``None`` for one that is damaged.
    """

    path: Path
    key: str
    headers: Mapping[str, NpyHeader | None]

    @abstractmethod
    def read(self, name: str, field: str) -> Array:
        """An array of numbers.

        Args:
            name: Its name.
            field: The profile key that a problem with it is about.

        Raises:
            ProblemError: It is missing, damaged, too large, or holds Python objects.
        """
        ...

    @abstractmethod
    def read_features(self, name: str, of: ArrayName, *, channels_first: bool) -> Array:
        """An array of numbers as :func:`checked_features` has it; its first axis varies slowest.

        Args:
            name: Its name.
            of: For the words.
            channels_first: Its second axis is that of channels, and is moved to the end.

        Raises:
            ProblemError: As :meth:`read`, or it holds what no model learns from.
        """
        ...

    def header(self, name: str, field: str) -> NpyHeader | None:
        """What is known of an array; ``None``: it is damaged.

        Raises:
            ProblemError: It is missing, or holds Python objects.
        """
        if name not in self.headers:
            raise _array_missing(self.path, name, list(self.headers), field)
        header = self.headers[name]
        if header is not None and header.dtype.hasobject:
            raise _holds_objects(self.path, name, field)
        return header

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array; empty for a damaged one."""
        return {name: header.shape if header else () for name, header in self.headers.items()}


def open_arrays(path: Path, key: str = "data.path") -> ArrayFile:
    """What arrays a file, or its folder, has; none is read yet.

    Args:
        path: Of the file.
        key: The profile key that names it.

    Raises:
        ProblemError: The file is missing, unreadable, cut short, or of another kind.
    """
    check_file(path, key)
    return NpyFolder(path, key) if path.suffix.lower() == _SUFFIX else NpzFile(path, key)


class NpzFile(ArrayFile):
    """Arrays in one archive, as :func:`numpy.savez` writes it."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        self.headers = self._with_archive(self._headers)

    @override
    def read(self, name: str, field: str) -> Array:
        self.header(name, field)

        def member(archive: zipfile.ZipFile) -> Array:
            try:
                return read_npy(archive, name + _SUFFIX)
            except ValueError as error:
                raise damaged(
                    self.path, f'an .npz file with an array in "{name}"', error, self.key
                ) from error

        return self._with_archive(member)

    @override
    def read_features(self, name: str, of: ArrayName, *, channels_first: bool) -> Array:
        def member(archive: zipfile.ZipFile) -> Array:
            with archive.open(name + _SUFFIX) as file:
                return _features(
                    file, archive.getinfo(name + _SUFFIX).file_size, of, channels_first
                )

        return self._with_archive(member)

    def _headers(self, archive: zipfile.ZipFile) -> dict[str, NpyHeader | None]:
        found: dict[str, NpyHeader | None] = {}
        members = [each for each in archive.namelist() if each.endswith(_SUFFIX)]
        for member in members[:_MOST_ARRAYS]:
            try:
                found[member.removesuffix(_SUFFIX)] = read_member_header(archive, member)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 - reported to who reads the array
                found[member.removesuffix(_SUFFIX)] = None
        return found

    def _with_archive(self, work: Callable[[zipfile.ZipFile], Found]) -> Found:
        try:
            with open_regular(self.path) as file, zipfile.ZipFile(file) as archive:
                check_unpacked(archive, self.path, self.key)
                return work(archive)
        except (ProblemError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of its readers.
            raise damaged(self.path, "a NumPy .npz file", error, self.key) from error


class NpyFolder(ArrayFile):
    """An array in a file of its own, and those in the files beside it."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        self.headers = {path.stem: self._header_of(path)}
        if self.headers[path.stem] is None:
            self.read(path.stem, key)
        for beside in _beside(path):
            self.headers[beside.stem] = self._header_of(beside)

    def place(self, name: str) -> Path:
        """Where the array of that name is."""
        return self.path.with_name(name + self.path.suffix)

    @override
    def read(self, name: str, field: str) -> Array:
        self.header(name, field)
        path = self.place(name)
        try:
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                check_size(size, str(path), field)
                read_header(file, size, path.name)
                file.seek(0)
                return read_npy_file(file)
        except (ProblemError, MemoryError):
            raise
        except Exception as error:
            raise damaged(path, "a NumPy .npy file", error, self.key) from error

    @override
    def read_features(self, name: str, of: ArrayName, *, channels_first: bool) -> Array:
        path = self.place(name)
        try:
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                check_size(size, str(path), of.field)
                return _features(file, size, of, channels_first)
        except (ProblemError, MemoryError):
            raise
        except Exception as error:
            raise damaged(path, "a NumPy .npy file", error, self.key) from error

    def _header_of(self, path: Path) -> NpyHeader | None:
        try:
            with open_regular(path) as file:
                return read_header(file, os.fstat(file.fileno()).st_size, path.name)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - reported to who reads the array
            return None


def _features(file: IO[bytes], size_bytes: int, of: ArrayName, channels_first: bool) -> Array:  # noqa: FBT001
    header = read_header(file, size_bytes, of.name)
    shape = header.shape
    parts = npy_parts(file, header, rows_at_once(shape, header.dtype))
    if channels_first:
        shape = (shape[0], *shape[2:], shape[1])
        parts = (np.moveaxis(part, 1, -1) for part in parts)
    return checked_parts(shape, header.dtype, parts, of)


def _beside(path: Path) -> list[Path]:
    """The other arrays of the folder, by name; links are not followed."""
    found: list[Path] = []
    try:
        with os.scandir(path.parent) as entries:
            for entry in entries:
                is_array = entry.name.endswith(path.suffix) and entry.name != path.name
                if is_array and entry.is_file(follow_symlinks=False):
                    found.append(Path(entry.path))
                if len(found) == _MOST_ARRAYS:
                    break
    except OSError:
        return []  # the file that was chosen is readable all the same
    return sorted(found)


def check_file(path: Path, key: str = "data.path") -> None:
    """Refuse a path that is not chosen, not there, no file, or not readable.

    Raises:
        ProblemError: It cannot be opened.
    """
    if path == Path():
        raise ProblemError(
            Problem(
                code="data_path_missing",
                field=key,
                message="No data file is chosen.",
                hint="Choose an .npz or .npy file.",
            )
        )
    try:
        with open_regular(path):
            pass
    except FileNotFoundError as error:
        raise ProblemError(
            Problem(
                code="data_file_missing",
                field=key,
                message=f"The data file {path} does not exist.",
                hint="Choose another file, or put it back in its place.",
            )
        ) from error
    except OSError as error:
        raise _unreadable(path, error, key) from error


def damaged(path: Path, kind: str, error: Exception, key: str = "data.path") -> ProblemError:
    """The problem of a file that is cut short or not what it says; or that cannot be read."""
    # What zipfile says by itself has no number, and a place before the file's start is invalid.
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return _unreadable(path, error, key)
    return ProblemError(
        Problem(
            code="data_file_damaged",
            field=key,
            message=f"{path} is truncated or is not {kind}.",
            hint="Get or write the file again; an interrupted copy looks like this.",
            detail=f"{type(error).__name__}: {error}",
        )
    )


def _unreadable(path: Path, error: OSError, key: str) -> ProblemError:
    return ProblemError(
        Problem(
            code="data_file_unreadable",
            field=key,
            message=f"The data file {path} cannot be read: {error.strerror}.",
            hint="Choose a file that you may read, or check the disk that holds it.",
        )
    )


def _array_missing(path: Path, name: str, names: list[str], field: str) -> ProblemError:
    there = ", ".join(f'"{other}"' for other in names[:20]) or "none"
    return ProblemError(
        Problem(
            code="data_array_missing",
            field=field,
            message=f'{path} has no array "{name}"; the arrays in it: {there}.',
            hint=f"Set {field} to one of these names.",
        )
    )


def _holds_objects(path: Path, name: str, field: str) -> ProblemError:
    return ProblemError(
        Problem(
            code="data_array_of_objects",
            field=field,
            message=f'Array "{name}" in {path} holds Python objects; reading them would run '
            "code from the file, so gpupanel refuses to.",
            hint="Save it with a number type, for example array.astype(numpy.float32).",
        )
    )
