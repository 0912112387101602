"""Folders of the host, for a person who chooses data there."""

import errno
import os
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.problem import ProblemError
from gpupanel.hosts.operations.machine import (
    FolderEntry,
    FolderListing,
    FolderWanted,
    PlaceFound,
    PlaceWanted,
)
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.runs.directory.disk_problems import disk_problem

_MOST: Final = 5_000


def list_folder(
    wanted: FolderWanted, _say: Callable[[Nothing], None], _dropped: Event
) -> FolderListing:
    """What is in a folder; of a file's path, what is in its folder.

    Raises:
        ProblemError: It cannot be read.
    """
    path = Path(os.path.expanduser(wanted.path or "~"))  # noqa: PTH111 - as a shell does, which never raises
    try:
        folder = path if path.is_dir() else path.parent
        with os.scandir(folder) as found:
            shown = (each for each in found if not each.name.startswith("."))
            entries = [*islice(shown, _MOST + 1)]
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error
    told = [_entry(each) for each in entries[:_MOST] if _is_text(each.name)]
    told.sort(key=lambda each: (not each.is_folder, each.name.lower()))
    return FolderListing(
        path=str(folder.absolute()), entries=tuple(told), is_whole=len(told) == len(entries)
    )


def find_place(wanted: PlaceWanted, _say: Callable[[Nothing], None], _dropped: Event) -> PlaceFound:
    """Where files are to be copied to, which is made where that is wanted.

    Raises:
        ProblemError: It cannot be made, or is no folder.
    """
    path = Path(os.path.expanduser(wanted.path or "~")).absolute()  # noqa: PTH111 - see above
    try:
        if wanted.is_made:
            path.mkdir(parents=True, exist_ok=True)
        nearest = next(each for each in (path, *path.parents) if each.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
        free = shutil.disk_usage(nearest).free
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error
    taken = tuple(name for name in wanted.names if os.path.lexists(path / name))
    return PlaceFound(path=str(path), taken=taken, free_bytes=free)


def _entry(found: "os.DirEntry[str]") -> FolderEntry:
    try:
        is_folder = found.is_dir()
        size = 0 if is_folder else found.stat().st_size
    except OSError:
        return FolderEntry(name=found.name, is_folder=False)
    return FolderEntry(name=found.name, is_folder=is_folder, size_bytes=size)


def _is_text(name: str) -> bool:
    """Whether it is UTF-8, as what a profile can name is."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
