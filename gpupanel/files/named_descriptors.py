"""Names for open files and folders, for libraries that open what they are given by its name.

Between the moment at which a file is found to be a run's own and that at which a library opens its
name, whoever may write into the folder could put a link there. A name made here leads to what is
open, wherever its own name leads by then.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from gpupanel.files.regular_files import open_regular

_OWN: Final = Path("/proc/self/fd")
"""Links to what a process has open, on Linux (proc(5)); opened, they give the file itself."""
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - only where the folder for such files is full
_CHUNK_BYTES: Final = 2**22


@contextmanager
def named_file(descriptor: int, name: str) -> Iterator[Path]:
    """A name, such as ``model.keras``, that leads to an open file.

    Args:
        descriptor: Of the file; it stays open.
        name: Its ending says to some libraries what the file is.

    Raises:
        OSError: There is no space for a link.
    """
    folder = private_folder()
    try:
        path = folder / name
        path.symlink_to(_OWN / str(descriptor))
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def name_of_folder(descriptor: int) -> Path:
    """A name that leads to an open folder as long as its descriptor is open."""
    return _OWN / str(descriptor)


@contextmanager
def still_copy(path: Path) -> Iterator[BinaryIO]:
    """All that a regular file holds now, which nobody changes from now on.

    Args:
        path: The file, wherever links lead to it.

    Raises:
        NotRegularFileError: It is something else.
        OSError: It cannot be read, or there is no memory for it.
    """
    with open_regular(path) as file, os.fdopen(os.memfd_create(path.name), "w+b") as copy:
        shutil.copyfileobj(file, copy, _CHUNK_BYTES)
        copy.seek(0)
        yield copy


def private_folder() -> Path:
    """A new folder for this process's user only, outside of any run's; whoever asks removes it.

    Raises:
        OSError: It cannot be made.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="gpupanel-"))
    except OSError:
        return Path(tempfile.mkdtemp(prefix="gpupanel-", dir=_MEMORY))
