"""Files that a host sends, written below one folder and nowhere else."""

from pathlib import Path, PurePosixPath
from typing import Final

from gpupanel.domain.problem import ProblemError
from gpupanel.files.appending import append_whole
from gpupanel.files.guarded_files import make_folder, open_to_write
from gpupanel.hosts.here.link_problems import odd_file
from gpupanel.hosts.operations.exports import FilePiece

_MOST_FILES: Final = 10_000
_MOST_DEPTH: Final = 8


class ReceivedFiles:
    """Takes pieces, in their order.

    Args:
        folder: Empty, and the window's own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()

    def take(self, piece: FilePiece) -> None:
        """Write a piece.

        Raises:
            ProblemError: Its path is none of a file below the folder, or there are too many.
            OSError: It cannot be written.
        """
        parts = PurePosixPath(piece.path).parts
        is_below = bool(parts) and all(part not in ("/", "..", ".") for part in parts)
        if not is_below or len(parts) > _MOST_DEPTH or "\0" in piece.path:
            raise ProblemError(odd_file(piece.path))
        self._names.add(piece.path)
        if len(self._names) > _MOST_FILES:
            raise ProblemError(odd_file(piece.path))
        above = self._folder
        for part in parts[:-1]:
            above /= part
            make_folder(above, self._folder)
        path = above / parts[-1]
        if piece.is_first:
            open_to_write(path, self._folder).close()
        append_whole(path, piece.content.encode("latin-1"), self._folder)
