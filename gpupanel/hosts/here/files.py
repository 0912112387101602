"""Files of a host: its folders are looked into, and files of this machine are copied there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.hosts.here.copy_problems import copy_without_room
from gpupanel.hosts.here.file_copy import CopyProgress, CopySize, copy_files
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.operations.machine import (
    FILES,
    PLACE,
    FolderListing,
    FolderWanted,
    PlaceFound,
    PlaceWanted,
)

_LOOK_S: Final = 1.0
_MOST_UNEXPLAINED: Final = 20
"""So often rsync may end in a row, as by a cut, while there is a connection."""


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

        Where the connection is cut it goes on by itself once there is one again. All else is as of
        :func:`~gpupanel.hosts.here.file_copy.copy_files`.
        """
        link = self._link
        made = link.call(PLACE, PlaceWanted(path=folder, is_made=True))
        has_sent, unexplained = False, 0

        def report(progress: CopyProgress) -> None:
            nonlocal has_sent
            has_sent |= progress.bytes_done > 0
            on_progress(progress)

        while True:
            try:
                return copy_files(
                    paths,
                    link.host,
                    made.path,
                    size,
                    cancelled,
                    report,
                    shares=link.shares,
                    is_there=self._is_there,
                )
            except ProblemError as error:
                problem = error.problems[0]
                # rsync may lose why it could not write there; how much it has sent says nothing of
                # how much has been written.
                is_unsaid = problem.code == "copy_failed" and not problem.detail
                if is_unsaid and self.place(made.path, ()).free_bytes < size.size_bytes:
                    raise ProblemError(copy_without_room(link.host, "")) from error
                # One that has never sent anything fails for another reason than a cut.
                was_cut = problem.code == "copy_cut" and has_sent
                # This connection may notice a cut some seconds later than rsync's.
                unexplained = unexplained + 1 if self._is_there() else 0
                if not was_cut or unexplained > _MOST_UNEXPLAINED:
                    raise
                if not self._is_there_again(cancelled, on_progress):
                    raise

    def _is_there(self) -> bool:
        return self._link.state.kind is LinkCondition.CONNECTED

    def _is_there_again(
        self, cancelled: Event, on_progress: Callable[[CopyProgress], object]
    ) -> bool:
        """Wait until there is a connection; false where nobody waits any more, or none can be."""
        while not cancelled.wait(_LOOK_S):
            if self._is_there():
                return True
            if self._link.state.kind is LinkCondition.REFUSED:
                return False
            on_progress(CopyProgress(is_waiting=True))
        return False
