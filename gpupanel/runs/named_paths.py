"""Paths that people write: into a profile, an environment variable, a command."""

from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError


def expanded_path(path: str, field: str = "") -> Path:
    """The path with ``~`` and ``~name`` as the folders of their people.

    Args:
        path: As it was written.
        field: The profile key that holds it, for the problem.

    Raises:
        ProblemError: Nobody has that name, or nobody knows where the home of this user is.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ProblemError(
            Problem(
                code="home_unknown",
                field=field,
                message=f"{path} cannot be found: no user has that name, or this user has no home "
                "folder.",
                hint="Write the whole path, beginning with /.",
            )
        ) from error


def checked_path(path: str, field: str = "") -> str:
    """A path that the system and a profile can hold.

    Raises:
        ProblemError: It has a NUL, or is not UTF-8.
    """
    if "\0" not in path and _is_utf8(path):
        return path
    why = "has a NUL character" if "\0" in path else "is not UTF-8"
    raise ProblemError(
        Problem(
            code="path_unusable",
            field=field,
            message=f"The path {path} {why}, so it cannot be used here.",
            hint="Rename the file, or the folder that holds it.",
        )
    )


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
