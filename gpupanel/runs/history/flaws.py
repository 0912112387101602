"""Why not all of a run in the list can be shown, as problems with what to do."""

from pydantic_core import from_json

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.guarded_files import UnsafeFileError


def newer(name: str) -> Problem:
    """Parts of the directory are of a version that says more than this one knows."""
    return Problem(
        code="run_newer",
        severity=Severity.HINT,
        message=f"{name} was written by a newer gpupanel: not all of it can be shown here.",
        hint="Update gpupanel to see all of it.",
    )


def incomplete(name: str, missing: str) -> Problem:
    """A file that every run has is not there."""
    kept = {"profile": "profile.toml", "plan": "plan.json", "events": "events.jsonl"}[missing]
    return Problem(
        code="run_incomplete",
        severity=Severity.WARNING,
        message=f"{name} has no {kept}: the run was interrupted before it was written, or the "
        "file was deleted.",
        hint="What can be read is shown. A run without a profile cannot be resumed."
        if missing == "profile"
        else "What can be read is shown.",
    )


def damaged(name: str, part: str, detail: str) -> Problem:
    """A file holds something else than it should."""
    return Problem(
        code="run_damaged",
        severity=Severity.WARNING,
        message=f"The {part} of {name} is damaged and cannot be read.",
        hint="What can be read is shown.",
        detail=detail,
    )


def unreadable(name: str, error: Exception) -> Problem:
    """The system does not let this user, or anybody, read it; or it is not safe to."""
    if isinstance(error, UnsafeFileError):
        return unsafe_file(str(error.path), error.found, Severity.WARNING)
    if not isinstance(error, OSError):
        return damaged(name, "folder", f"{type(error).__name__}: {error}")
    return Problem(
        code="run_unreadable",
        severity=Severity.WARNING,
        message=f"{name} cannot be read: {error.strerror or error}.",
        hint="Check the permissions of its folder, and the disk.",
        detail=str(error),
    )


def gone(name: str) -> Problem:
    """There is no such directory any more."""
    return Problem(
        code="run_gone",
        message=f"The folder of {name} is gone: it was deleted, or moved elsewhere.",
        hint="Look for it in the bin. A run without its folder saves nothing more, and ends.",
    )


def lost_start(name: str) -> Problem:
    """The events begin with one that never comes first."""
    return Problem(
        code="run_damaged",
        severity=Severity.WARNING,
        message=f"The beginning of the list of events of {name} is lost.",
        hint="What can be read is shown.",
    )


def unknown_event(name: str, line: bytes) -> Problem:
    """A problem: this version cannot read the first event."""
    try:
        document = from_json(line)
    except ValueError as error:
        return damaged(name, "list of events", str(error))
    if isinstance(document, dict) and "kind" in document:
        return newer(name)
    return damaged(name, "list of events", line[:200].decode(errors="replace"))
