"""Files of a host: its folders are looked into, and files of this machine are copied there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.hosts.here.copy_problems import without_room
from gpupanel.hosts.here.file_copy import CopyProgress, CopySize, copy_files
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.operations.machine import (
    FILES,
    PLACE,
    FolderListing,
    FolderWanted,
    PlaceFound,
    PlaceWanted,
)

_ROOM_BYTES: Final = 2**20
"""A disk with less is full."""


class HostFiles:
    """Those that the person may read and write there.

    Args:
        link: To the host.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    def folder(self, path: str) -> FolderListing:
        """What is in a folder there; empty: in the person's home."""
        return self._link.call(FILES, FolderWanted(path=path))

    def place(self, path: str, names: tuple[str, ...]) -> PlaceFound:
        """A folder there, which need not be there yet, and which of these names stand in it."""
        return self._link.call(PLACE, PlaceWanted(path=path, names=names))

    def copy(
        self,
        paths: Sequence[Path],
        folder: str,
        size: CopySize,
        cancelled: Event,
        on_progress: Callable[[CopyProgress], object],
    ) -> Problem | None:
        """Copy files and folders into a folder there, which is made where it is not there.

        All else is as of :func:`~gpupanel.hosts.here.file_copy.copy_files`.
        """
        made = self._link.call(PLACE, PlaceWanted(path=folder, is_made=True))
        try:
            return copy_files(paths, self._link.host, made.path, size, cancelled, on_progress)
        except ProblemError as error:
            # rsync there may end before what it says of a full disk has come.
            is_unclear = error.problems[0].code == "copy_failed"
            if is_unclear and self.place(made.path, ()).free_bytes < _ROOM_BYTES:
                raise ProblemError(without_room(self._link.host)) from error
            raise
