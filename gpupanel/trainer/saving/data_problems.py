"""Problems of data that is, or may be, other than what a run has learned from."""

import shlex
import traceback
from collections.abc import Iterator

from gpupanel.domain.problem import Problem, Severity
from gpupanel.trainer.datasets.fingerprint import Differences
from gpupanel.trainer.file_errors import run_obstacle
from gpupanel.trainer.started_run import StartedRun

_NAMED = 3
_LISTED = 200


def changed_data(run: StartedRun, differences: Differences, *, is_accepted: bool) -> Problem:
    """A problem: the data has changed.

    Args:
        run: The run that is to go on.
        differences: In what.
        is_accepted: A person lets it go on all the same.
    """
    message = (
        f"The data is not what the run has learned from so far ({run.profile.data.described}): "
        f"{'; '.join(_clauses(differences))}."
    )
    detail = "\n".join(_lines(differences))
    if is_accepted:
        return Problem(
            code="data_changed_accepted",
            severity=Severity.WARNING,
            field="data.source",
            message=f"{message} The run continues with it, as requested.",
            hint="What the model has learned is kept; earlier metrics are of the previous data.",
            detail=detail,
        )
    return Problem(
        code="data_changed",
        field="data.source",
        message=message,
        hint="Put the data back as it was; or let the run continue with the data as it is now, "
        "with the command or the button. Nothing was trained, and the checkpoints are "
        "untouched.",
        detail=detail,
        command=f"gpupanel resume {shlex.quote(str(run.layout.root))} --accept-changed-data",
    )


def no_fingerprint() -> Problem:
    """A problem: no fingerprint was saved, or it was deleted."""
    return Problem(
        code="data_not_compared",
        severity=Severity.HINT,
        message="The data could not be compared with what the run has learned from: its folder "
        "has no record of that. An earlier version began it, or the file is gone.",
        hint="It is recorded from now on.",
    )


def fingerprint_unreadable(name: str, error: Exception) -> Problem:
    """A problem: the file of the fingerprint is damaged or not readable."""
    return Problem(
        code="data_not_compared",
        severity=Severity.WARNING,
        message=f"The data could not be compared with what the run has learned from: {name} in "
        "its folder is damaged or cannot be read.",
        hint="Check whether the data is the same; the data as it is now is recorded from now on.",
        detail=f"{type(error).__name__}: {error}",
    )


def fingerprint_not_written(error: OSError) -> Problem:
    """A problem: the fingerprint cannot be saved."""
    return Problem(
        code="data_not_recorded",
        severity=Severity.WARNING,
        message=f"The record of the run's data could not be saved in its folder: "
        f"{run_obstacle(error).because}.",
        hint="The training continues; when it is resumed, changed data may not be noticed.",
        detail="".join(traceback.format_exception(error)),
    )


def _clauses(differences: Differences) -> Iterator[str]:
    yield from differences.arrays
    for one, several, names in (
        ("file has changed", "files have changed", differences.changed),
        ("file is missing", "files are missing", differences.missing),
        ("file was added", "files were added", differences.added),
        (
            "file was touched before the run had read all of it and cannot be compared",
            "files were touched before the run had read all of them and cannot be compared",
            differences.unknown,
        ),
    ):
        if names:
            more = ", ..." if len(names) > _NAMED else ""
            what = one if len(names) == 1 else several
            yield f"{len(names):,} {what} ({', '.join(names[:_NAMED])}{more})"


def _lines(differences: Differences) -> Iterator[str]:
    yield from differences.arrays
    for title, names in (
        ("Changed", differences.changed),
        ("Missing", differences.missing),
        ("Added", differences.added),
        ("Not compared", differences.unknown),
    ):
        yield from (f"{title}: {name}" for name in names[:_LISTED])
        if len(names) > _LISTED:
            yield f"{title}: {len(names) - _LISTED:,} more"
