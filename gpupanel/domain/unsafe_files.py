"""The problem of a file in a run's folder that is neither read nor written."""

from gpupanel.domain.problem import Problem, Severity


def unsafe_file(path: str, found: str, severity: Severity = Severity.ERROR) -> Problem:
    """The problem of a run's file that is no plain file of the run's own.

    Args:
        path: Where it stands.
        found: What it is: "a symbolic link".
        severity: A warning where only not all of a run can be shown.
    """
    return Problem(
        code="run_folder_unsafe",
        severity=severity,
        message=f"{path} is {found}, so it is neither read nor written: whoever made this run "
        "folder could reach files elsewhere with it.",
        hint="If the run is your own, put a plain file or folder of yours in its place; "
        "else do not use this run folder.",
    )
