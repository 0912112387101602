"""Arrays of numbers in a NumPy archive, read without running code and without believing it."""

import math
import zipfile
import zlib

import numpy as np
import numpy.typing as npt


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
    try:
        return _read_npy(archive, member)
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, OSError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes of a damaged header happen to make of its readers.
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _read_npy(archive: zipfile.ZipFile, member: str) -> npt.NDArray[np.generic]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read_header is None:
            raise ValueError(f"an array of format {version} holds no plain numbers")
        shape, _, dtype = read_header(file)
        # NumPy makes room for all that the header says before it reads the first number.
        said = file.tell() + math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and said > archive.getinfo(member).file_size:
            raise ValueError(f"{member} says that it holds {said:,} bytes, which it does not")
    with archive.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
