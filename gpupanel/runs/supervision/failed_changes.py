"""Changes of a run before its next start that could not be written, as on a full disk."""

import time
from collections.abc import Callable

from gpupanel.domain.events import Event, ProblemReported
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.disk_problems import disk_problem

ReportFailure = Callable[[str, OSError | ProblemError], None]
"""Called with what the run was to be ("tried with less memory"), and why it is not."""


def log_failure(wanted: str, error: OSError | ProblemError) -> None:
    """Say it in the log of this process."""
    write_to_process_log(f"supervisor: not {wanted}: {error}")


class FailedChanges:
    """Says it to the person, too, once: a run that is started again may fail to change each time.

    Args:
        layout: The run.
        report: Writes an event of the supervisor's.
    """

    def __init__(self, layout: RunLayout, report: Callable[[Event], None]) -> None:
        self._layout = layout
        self._report = report
        self._said: set[str] = set()

    def report(self, wanted: str, error: OSError | ProblemError) -> None:
        """Report that the run was not changed; see :data:`ReportFailure`."""
        log_failure(wanted, error)
        if isinstance(error, ProblemError):
            cause = error.problems[0]
        else:
            cause = disk_problem(error, self._layout.root)
        message = f"The run was not {wanted}, though it was to be. {cause.message}"
        if message in self._said:
            return
        self._said.add(message)
        problem = Problem(
            code="run_not_changed",
            severity=Severity.WARNING,
            message=message,
            hint=cause.hint,
            detail=cause.detail,
        )
        self._report(ProblemReported(time_s=time.time(), problem=problem))
