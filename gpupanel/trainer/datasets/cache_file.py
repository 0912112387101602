"""Files of the user's cache that are made of files of a person's: unpacked, decoded, counted.

Each is known by the place on its disk, the size and the times of what it was made of, as imported
tables are (:mod:`gpupanel.trainer.datasets.tables.table_file`).
"""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.value import Value
from gpupanel.files.cache_folder import cache_folder, cache_root, remove_unused
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.locks import locked_patiently
from gpupanel.files.whole_files import remove_unfinished, whole_file, write_whole

_RECENT_NS = 2 * 10**9
"""A file that was changed so shortly before it was examined may be changed again unseen."""

Marks = tuple[int, ...]


class _CacheEntry(Value):
    """What is known of a kept file.

    Attributes:
        looked_ns: When what it is made of was examined, in nanoseconds since the epoch.
        size: Of the kept file.
    """

    looked_ns: int
    size: int


def marks_of(status: os.stat_result) -> Marks:
    """What shows that a file is still what it was; the last is when it was changed."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def cached_file(
    name: str,
    made_of: Sequence[Marks],
    how: object,
    on_wait: Callable[[], None],
    write: Callable[[BinaryIO], None],
    unusable: Callable[[Path, OSError], ProblemError],
) -> Path:
    """A file of the cache, made now where it is not there.

    Args:
        name: Of the folder of the cache.
        made_of: The files that it is made of.
        how: Whatever makes another file of the same ones; its text counts.
        on_wait: Called while another process makes it; may raise.
        write: Writes it.
        unusable: Gives the problem of a folder where it cannot be kept.

    Raises:
        ProblemError: It cannot be kept, or what ``write`` raises.
    """
    digest = hashlib.sha256(repr(how).encode(errors="backslashreplace"))
    for marks in made_of:
        digest.update(repr(marks).encode())
    place = cache_root() / name / digest.hexdigest()[:32]
    changed_ns = max(marks[-1] for marks in made_of)
    try:
        folder = cache_folder(name)
        with locked_patiently(place.with_suffix(".lock"), on_wait):
            if not _is_there(place, changed_ns):
                remove_unused(folder)
                remove_unfinished(place.with_suffix(".kept"))
                looked_ns = time.time_ns()
                with whole_file(place.with_suffix(".kept"), private=True) as file:
                    write(file)
                    size = file.tell()
                known = _CacheEntry(looked_ns=looked_ns, size=size)
                write_whole(place.with_suffix(".json"), known.model_dump_json(), private=True)
    except OSError as error:
        raise unusable(place.parent, error) from error
    return place.with_suffix(".kept")


def _is_there(place: Path, changed_ns: int) -> bool:
    try:
        with open_to_read(place.with_suffix(".json")) as file:
            known = _CacheEntry.model_validate_json(file.read())
        with open_to_read(place.with_suffix(".kept")) as file:
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValidationError):
        return False
    if size != known.size or changed_ns >= known.looked_ns - _RECENT_NS:
        return False
    for suffix in (".json", ".kept"):
        os.utime(place.with_suffix(suffix))
    return True
