"""Runs that are to go: not while they go on, and never by half unnoticed."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import Timeout

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.locks import lock_in_folder
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.summaries import summarize_run

_LOCK_WAIT_S = 1.0
"""Whoever asks whether the run lives shares its lock for an instant."""


def delete_run(layout: RunLayout, move_to_bin: Callable[[Path], bool] | None) -> bool:
    """Move the run's directory to the bin, or delete it for good.

    Its locks are held meanwhile, so that nobody resumes it.

    Args:
        layout: One that is gone already is as good as deleted.
        move_to_bin: Says whether it was moved; ``None``: delete it for good.

    Returns:
        Whether it is gone; false where its file system has no bin.

    Raises:
        ProblemError: It runs, or may not be deleted.
    """
    if not layout.root.is_dir():
        return True
    if layout.root.is_symlink():
        raise ProblemError(_is_link(layout))
    with _kept_from_running(layout):
        if move_to_bin is not None:
            return move_to_bin(layout.root)
        try:
            # Under a name that no list shows, so that what is left by a failure is no half run.
            doomed = layout.root.rename(layout.root.with_name(f".deleted-{layout.root.name}"))
            shutil.rmtree(doomed)
        except OSError as error:
            raise ProblemError(disk_problem(error, layout.root)) from error
    return True


@contextmanager
def _kept_from_running(layout: RunLayout) -> Iterator[None]:
    with ExitStack() as held:
        try:
            _hold(held, layout.resume_lock)
            # Nobody can resume it from here on; its own lock, held here, would say that it runs.
            if summarize_run(layout).is_running:
                raise ProblemError(_runs(layout))
            _hold(held, layout.lock)
        except Timeout as error:
            raise ProblemError(_runs(layout)) from error
        except OSError as error:
            raise ProblemError(disk_problem(error, layout.root)) from error
        yield


def _hold(held: ExitStack, path: Path) -> None:
    with suppress(UnsafeFileError):  # what is no lock is held by nobody, and goes, too
        held.enter_context(lock_in_folder(path, _LOCK_WAIT_S))


def _is_link(layout: RunLayout) -> Problem:
    return Problem(
        code="run_is_a_link",
        message=f"{layout.root} is a link to a run that is kept elsewhere: it is not deleted here.",
        hint="Delete the link with a file manager; the run stays where it is.",
    )


def _runs(layout: RunLayout) -> Problem:
    return Problem(
        code="run_goes_on",
        message=f"{layout.name} is running: it cannot be deleted.",
        hint="Stop it first.",
    )
