"""Runs that come back from the bin of the desktop."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.directory.disk_problems import disk_problem


@dataclass(frozen=True, slots=True)
class BinnedRun:
    """A run that was moved to the bin.

    Attributes:
        place: Where its directory was.
        in_bin: Where it is now.
    """

    place: Path
    in_bin: Path


def restore_run(run: BinnedRun) -> None:
    """Move the run's directory back to where it was.

    What the bin noted about it (freedesktop.org trash specification: ``info/NAME.trashinfo`` beside
    ``files/NAME``) goes, too.

    Raises:
        ProblemError: It is not in the bin any more, or something else stands in its place by now;
            nothing has changed.
    """
    if run.in_bin.is_symlink() or not run.in_bin.is_dir():
        raise ProblemError(_gone(run))
    if os.path.lexists(run.place):
        raise ProblemError(_taken(run))
    try:
        # On one file system: a bin that is on another one took nothing.
        run.in_bin.rename(run.place)
    except OSError as error:
        raise ProblemError(disk_problem(error, run.place)) from error
    if run.in_bin.parent.name == "files":
        with suppress(OSError):  # a note about nothing, which every desktop passes over
            (run.in_bin.parent.parent / "info" / f"{run.in_bin.name}.trashinfo").unlink()


def _gone(run: BinnedRun) -> Problem:
    return Problem(
        code="run_not_in_bin",
        message=f"{run.place.name} is no longer in the bin: it was emptied, or the run was "
        "taken out of it.",
        hint="Look for it where files were restored to, or in a backup.",
    )


def _taken(run: BinnedRun) -> Problem:
    return Problem(
        code="run_place_taken",
        message=f"{run.place.name} stays in the bin: another folder of that name is in "
        f"{run.place.parent}.",
        hint="Rename that folder, then restore the run with a file manager.",
    )
