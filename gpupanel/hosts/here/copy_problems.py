"""What can be wrong with copying files to a host, as a person is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line

_NO_PROGRAM_THERE: Final = (
    "rsync: command not found",
    "rsync: not found",
    "command not found: rsync",
)
_NO_ROOM: Final = ("No space left on device", "Disk quota exceeded")
_NO_RIGHT: Final = "Permission denied"
_CUT: Final = (10, 12, 30, 35, 255)
"""What rsync exits with where its connection ends (rsync(1)); 255 is ssh's."""
_AGAIN: Final = "what was sent is not sent again."
_INSTALL: Final = "sudo apt install rsync"


def no_rsync_here(error: OSError) -> Problem:
    """Rsync cannot be started on this machine."""
    return Problem(
        code="rsync_not_started",
        message=f"rsync, which copies the files, cannot be started: {error.strerror}.",
        hint=f"Install it on this machine: {_INSTALL}",
    )


def leads_in_a_circle(path: Path) -> Problem:
    """A link leads to a folder above it."""
    return Problem(
        code="copy_in_a_circle",
        message=f"{visible_line(str(path))} leads to a folder that holds it, so copying would not "
        "end.",
        hint="Remove that link, or copy the folders beside it one by one.",
    )


def name_without_text(name: str) -> Problem:
    """What is copied would have a path that no profile can name."""
    return Problem(
        code="path_unusable",
        message=f"The name {visible_line(name)} is not UTF-8, so no profile can name it.",
        hint="Rename it, then copy it.",
    )


def twice_the_same_name(name: str) -> Problem:
    """Two of the files would have one place there."""
    return Problem(
        code="copy_of_same_names",
        message=f"Two of these are called {visible_line(name)}: one would take the place of the "
        "other.",
        hint="Copy them one after the other, into different folders.",
    )


def nothing_to_copy(paths: Sequence[Path]) -> Problem:
    """There are no files."""
    return Problem(
        code="copy_of_nothing",
        message=f"{visible_line(paths[0].name)} holds no files that can be read.",
        hint="Choose another folder, or look at its rights.",
    )


def some_not_copied(host: str, said: str) -> Problem:
    """Single files were not copied."""
    return Problem(
        code="copy_not_whole",
        severity=Severity.WARNING,
        message=f"Some files were not copied to {host}: they cannot be read, or were gone by then.",
        hint="The detail names them. Copy again once they can be read: only these are sent.",
        detail=said,
    )


def is_full(said: str) -> bool:
    """Whether rsync says that the disk there is."""
    return any(each in said for each in _NO_ROOM)


def copy_cut(host: str, said: str) -> Problem:
    """The connection was."""
    return Problem(
        code="copy_cut",
        message=f"The connection to {host} was lost while files were copied.",
        hint=f"Continue once it is there again: {_AGAIN}",
        detail=said,
    )


def copy_without_room(host: str, said: str) -> Problem:
    """The disk there is full."""
    return Problem(
        code="copy_without_room",
        message=f"The disk of {host} has no room for all of it.",
        hint=f"Make room there, then continue: {_AGAIN}",
        detail=said,
    )


def copy_problem(host: str, exit_code: int, said: str) -> Problem:
    """Why files were not copied.

    Args:
        host: Where to.
        exit_code: Of rsync.
        said: What it wrote to stderr.
    """
    if any(each in said for each in _NO_PROGRAM_THERE):
        return Problem(
            code="rsync_not_there",
            message=f"{host} has no rsync, which takes the files there.",
            hint=f"Install it on {host}: {_INSTALL}",
            detail=said,
        )
    if is_full(said):
        return copy_without_room(host, said)
    if exit_code in _CUT:
        return copy_cut(host, said)
    if _NO_RIGHT in said:
        return Problem(
            code="copy_not_permitted",
            message=f"That folder of {host} cannot be written, or a file not be read.",
            hint="Choose another folder; the detail has what failed.",
            detail=said,
        )
    last = visible_line((said.splitlines() or [""])[-1]) or f"rsync exits with {exit_code}"
    return Problem(
        code="copy_failed",
        message=f"Files were not copied to {host}: {last}.",
        hint="Copy the detail into a report of the problem.",
        detail=said,
    )
