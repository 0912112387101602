"""Asking things of a run: a file each in ``requests/``."""

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.private_files import make_private_folder, touch_private
from gpupanel.runs.supervision.frozen_supervisor import continue_frozen


def ask(layout: RunLayout, request: Request) -> None:
    """Ask it of the run; asking twice is asking once.

    A supervisor that is frozen goes on, unless the request is for the trainer alone.

    Raises:
        ProblemError: The run's directory cannot be written.
    """
    try:
        make_private_folder(layout.requests)
        touch_private(layout.requests / request.value)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.requests)) from error
    if request is not Request.CHECKPOINT:
        continue_frozen(layout)


def end_now(layout: RunLayout) -> None:
    """End the run at once, without saving.

    Raises:
        ProblemError: The run's directory cannot be written.
    """
    ask(layout, Request.END)


def is_asked(layout: RunLayout, request: Request) -> bool:
    """Whether the request waits."""
    return (layout.requests / request.value).exists()
