"""Whether gpupanel can work in its folders: for runs, the queue, what it keeps, and trust."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.files.cache_folder import cache_root
from gpupanel.files.file_obstacles import nearest
from gpupanel.files.gpu_claims import UnfitFolderError, check_claims_folder, claims_folder
from gpupanel.files.locks import check_folder
from gpupanel.files.user_folders import HomeUnknownError
from gpupanel.runs.directory.disk_problems import disk_problem, space_problem
from gpupanel.runs.locations import default_runs_dir, queue_dir
from gpupanel.runs.named_paths import checked_path
from gpupanel.runs.trust.trusted import trusted_file

if TYPE_CHECKING:
    from gpupanel.devices.doctor.report import ExaminedFolder

_FOLDERS: Final[Mapping[str, Callable[[], Path]]] = {
    "Runs": default_runs_dir,
    "Queue": queue_dir,
    "Cache": cache_root,
    "Trusted code": lambda: trusted_file().parent,
}
PATIENCE_S: Final = 10.0
"""A local disk answers in milliseconds; one behind a network that is down, never."""


def examined_folders(
    folders: Mapping[str, Callable[[], Path]] = _FOLDERS, patience_s: float = PATIENCE_S
) -> "tuple[ExaminedFolder, ...]":
    """What is to be said of each folder; one that is not there is not made.

    That of the claims of all users is among them where an administrator has made it.

    Args:
        folders: Where they are, by what they are called.
        patience_s: How long one may take to answer.
    """
    found = [_examined(name, where, patience_s) for name, where in folders.items()]
    return (*found, *_examined_claims(claims_folder()))


def _examined_claims(folder: Path) -> "tuple[ExaminedFolder, ...]":
    """What is to be said of the folder of claims; nothing where nobody made it.

    No run needs it, so what is wrong with it is no illness.
    """
    from gpupanel.devices.doctor.report import ExaminedFolder

    problem = None
    try:
        check_claims_folder(folder)
    except FileNotFoundError:
        return ()
    except UnfitFolderError as error:
        problem = Problem(
            code="claims_folder_unfit",
            severity=Severity.HINT,
            message=f"{folder} {error.reason}.",
            hint="An administrator can mend that. Until then it is not known, or not of every "
            "GPU, which other user trains on it.",
            command=error.command,
        )
    except OSError as error:
        problem = disk_problem(error, folder).model_copy(update={"severity": Severity.HINT})
    return (ExaminedFolder(name="Claims of GPUs", path=str(folder), problem=problem),)


def _examined(name: str, where: Callable[[], Path], patience_s: float) -> "ExaminedFolder":
    # Here and not above: the window examines its folder of runs, and opens without the Doctor.
    from gpupanel.devices.doctor.report import ExaminedFolder

    try:
        folder = where()
    except ProblemError as error:  # nobody knows where
        return ExaminedFolder(name=name, path="", problem=error.problems[0])
    except HomeUnknownError as error:
        return ExaminedFolder(name=name, path="", problem=disk_problem(error, Path("~")))
    problem = folder_problem_in_time(folder, patience_s)
    return ExaminedFolder(name=name, path=str(folder), problem=problem)


def folder_problem_in_time(folder: Path, patience_s: float = PATIENCE_S) -> Problem | None:
    """Like :func:`folder_problem`, but with a time limit for a disk that does not answer.

    Args:
        folder: Need not be there; it is not made.
        patience_s: How long it may take to answer.
    """
    found: list[Problem | None] = []
    thread = threading.Thread(target=lambda: found.append(folder_problem(folder)), daemon=True)
    thread.start()
    thread.join(patience_s)
    return found[0] if found else silent_disk(folder, patience_s)


def folder_problem(folder: Path) -> Problem | None:
    """Why nothing can be kept in that folder, or in the one where it would be made.

    What is said is said likewise to whoever starts a run there.
    """
    try:
        checked_path(str(folder))
        check_folder(nearest(folder))
        return space_problem(folder)
    except ProblemError as error:
        return error.problems[0]
    except OSError as error:
        return disk_problem(error, folder)


def silent_disk(folder: Path, patience_s: float) -> Problem:
    """A problem: the disk of a folder has not answered for this long."""
    return Problem(
        code="disk_not_answering",
        message=f"The disk that holds {folder} did not answer for {patience_s:.0f} s.",
        hint="See that its folder is mounted and its server runs, then try again.",
    )
