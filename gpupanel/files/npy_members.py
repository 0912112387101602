"""Arrays of numbers in NumPy's files, read without running code and without believing them."""

import math
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """What an array's file says of it, found to be no more than the file can hold.

    Attributes:
        shape: Of the array.
        dtype: Of its numbers.
        is_fortran: Its first axis varies fastest.
        offset: Where its numbers begin, in bytes.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    is_fortran: bool
    offset: int


def read_header(file: IO[bytes], size_bytes: int, name: str) -> NpyHeader:
    """The header at the beginning of a ``.npy`` file.

    Args:
        file: At its beginning; afterwards where the numbers begin.
        size_bytes: Of the whole file.
        name: Of the file, for the words.

    Raises:
        ValueError: It is damaged: among others, when it says that it holds more than its size.
        OSError: It cannot be read; :class:`zipfile.BadZipFile`, :class:`zlib.error` and
            :class:`EOFError` say so of a member of an archive.
    """
    try:
        return _read_header(file, size_bytes, name)
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, OSError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes of a damaged header happen to make of its readers.
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _read_header(file: IO[bytes], size_bytes: int, name: str) -> NpyHeader:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"an array of format {version} holds no plain numbers")
    shape, is_fortran, dtype = read(file)
    header = NpyHeader(tuple(shape), dtype, is_fortran, file.tell())
    # NumPy makes room for all that the header says before it reads the first number.
    said = header.offset + math.prod(shape) * dtype.itemsize
    if any(length < 0 for length in shape) or (not dtype.hasobject and said > size_bytes):
        raise ValueError(f"{name} says that it holds {said:,} bytes, which it does not")
    return header


def read_member_header(archive: zipfile.ZipFile, member: str) -> NpyHeader:
    """The header of an array in an archive; raises as :func:`read_header` does."""
    with archive.open(member) as file:
        return read_header(file, archive.getinfo(member).file_size, member)


def read_npy(archive: zipfile.ZipFile, member: str) -> npt.NDArray[np.generic]:
    """An array of numbers in an archive whose members say how large they are unpacked.

    Its size is to be checked before, and how it is compressed.

    Raises:
        ValueError: It holds Python objects ("allow_pickle" stands in the message), or is damaged:
            among others, when it says that it is larger than the member.
        zipfile.BadZipFile: The archive is damaged; so do :class:`zlib.error` and
            :class:`EOFError` say.
        OSError: It cannot be read.
    """
    read_member_header(archive, member)
    with archive.open(member) as file:
        return read_npy_file(file)


def npy_parts(file: IO[bytes], header: NpyHeader, rows: int) -> Iterator[npt.NDArray[np.generic]]:
    """An array of numbers, so many rows at a time; its first axis varies slowest.

    Args:
        file: Where :func:`read_header` has left it.
        header: What that found.
        rows: Of each part but the last.

    Raises:
        ValueError: Its first axis varies fastest.
        EOFError: It is cut short; or another error, as :func:`read_header` has it.
    """
    if header.is_fortran:
        raise ValueError("the first axis of the array varies fastest")
    count, *others = header.shape
    row_bytes = math.prod(others) * header.dtype.itemsize
    for row in range(0, count, rows):
        here = min(rows, count - row)
        content = file.read(here * row_bytes)
        if len(content) < here * row_bytes:
            raise EOFError("the numbers end before the last one")
        yield np.frombuffer(content, header.dtype).reshape(here, *others)


def read_npy_file(file: IO[bytes]) -> npt.NDArray[np.generic]:
    """An array of numbers whose header was found right; the file is at its beginning.

    Raises:
        ValueError: It holds Python objects ("allow_pickle" stands in the message), or is damaged.
        OSError: It cannot be read; or another error, as :func:`read_header` has it.
    """
    try:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, OSError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
