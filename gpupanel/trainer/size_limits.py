"""How large a file may become when it is unpacked: small files can hold what fills any memory.

The limit is this machine's memory, since what is unpacked here is held in it.
"""

import os
import zipfile
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError

_BYTES_PER_GIB = 2**30
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What NumPy and Keras write. Python unpacks these in small pieces, others without a bound."""


def memory_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_unpacked(archive: zipfile.ZipFile, path: Path, field: str) -> None:
    """Refuse an archive whose members would not fit into memory.

    What a member says of its size holds: no more than that is unpacked of it.

    Args:
        archive: Open.
        path: Of the file, for the words.
        field: The profile key that names it.

    Raises:
        ProblemError: They would not fit.
        zipfile.BadZipFile: They are compressed in a way that NumPy and Keras do not use.
    """
    odd = [info.filename for info in archive.infolist() if info.compress_type not in _METHODS]
    if odd:
        raise zipfile.BadZipFile(f"{odd[0]} is compressed in another way than NumPy and Keras do")
    check_size(sum(info.file_size for info in archive.infolist()), str(path), field)


def check_size(size_bytes: int, what: str, field: str) -> None:
    """Refuse what would not fit into memory.

    Args:
        size_bytes: What it takes there.
        what: It, for the words.
        field: The profile key that names it.

    Raises:
        ProblemError: It would not fit.
    """
    limit = memory_bytes()
    if size_bytes <= limit:
        return
    raise ProblemError(
        Problem(
            code="file_too_large",
            field=field,
            message=f"{what} would take {_gib(size_bytes)} unpacked, more than the {_gib(limit)} "
            "of memory of this machine.",
            hint="Use a smaller one; a malicious file looks like this, too.",
        )
    )


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / _BYTES_PER_GIB:,.1f} GiB"
