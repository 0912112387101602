"""Asking things of a run: a file each in ``requests/``."""

from contextlib import suppress

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import make_folder, status, touch
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.processes.frozen_supervisor import continue_frozen


def ask(layout: RunLayout, request: Request) -> None:
    """Ask it of the run; asking twice is asking once.

    A supervisor that is frozen goes on, unless the request is for the trainer alone.

    Raises:
        ProblemError: The run's directory cannot be written.
    """
    try:
        make_folder(layout.requests)
        touch(layout.requests / request.value, layout.root)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.requests)) from error
    if request is not Request.CHECKPOINT:
        continue_frozen(layout)


def write_suspend_after(layout: RunLayout, epoch: int) -> None:
    """Have a run that does not go on now suspended when an epoch has ended, counted from 1.

    Raises:
        OSError: It cannot be written.
    """
    write_whole(layout.requests / Request.SUSPEND_AFTER_EPOCH, str(epoch), private=True)


def is_asked(layout: RunLayout, request: Request) -> bool:
    """Whether the request waits."""
    with suppress(OSError):  # a folder that is none holds no requests
        return status(layout.requests / request.value, layout.root) is not None
    return False
