"""What can be wrong with data, whichever its kind: problems with stable codes."""

from pathlib import Path

from gpupanel.domain.problem import Fix, Problem, ProblemError


def data_problem(
    code: str,
    message: str,
    hint: str,
    *,
    field: str = "data.path",
    detail: str = "",
    fix: Fix | None = None,
) -> ProblemError:
    """A problem with the data, to be raised."""
    return ProblemError(
        Problem(code=code, field=field, message=message, hint=hint, detail=detail, fix=fix)
    )


def unreadable(path: Path | str, error: OSError, field: str, what: str = "files") -> ProblemError:
    """A file or folder that the system does not give.

    Args:
        path: Of it.
        error: Why.
        field: The profile key that names it.
        what: It holds, in the plural.
    """
    if isinstance(error, FileNotFoundError):
        return data_problem(
            "data_file_missing",
            f"The file or folder {path} does not exist.",
            "Choose another one, or put it back in its place.",
            field=field,
        )
    return data_problem(
        "data_file_unreadable",
        f"{path} cannot be read: {error.strerror or error}.",
        f"Choose {what} that you may read, or check the disk that holds them.",
        field=field,
    )


def changed(code: str, path: Path | str, field: str) -> ProblemError:
    """What another program writes to."""
    return data_problem(
        code,
        f"{path} was changed while it was read.",
        "Wait until the program that writes it is done, and start again.",
        field=field,
    )
