"""Reading a Python file that a profile names, as bytes: nothing here carries it out."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.regular_files import NotRegularFileError, open_regular

LARGEST_CODE_BYTES = 2**20


def read_code_file(
    path: Path, key: str, open_file: Callable[[Path], BinaryIO] = open_regular
) -> bytes:
    """All of it.

    Args:
        path: The file.
        key: The profile key that names it: ``model.path`` or ``data.path``.
        open_file: Opens it.

    Raises:
        ProblemError: It is missing, cannot be read, or is too large to be code.
    """
    try:
        with open_file(path) as file:
            content = file.read(LARGEST_CODE_BYTES + 1)
    except NotRegularFileError as error:
        raise _problem(
            "code_unreadable", key, f"{path} is not a Python file: it is {error.found}."
        ) from error
    except FileNotFoundError as error:
        raise _problem("code_missing", key, f"The Python file {path} does not exist.") from error
    except OSError as error:
        raise _problem(
            "code_unreadable", key, f"The Python file {path} cannot be opened: {error.strerror}."
        ) from error
    if len(content) > LARGEST_CODE_BYTES:
        raise _problem("code_unreadable", key, f"{path} is larger than 1 MiB: that is not code.")
    if b"\0" in content:
        message = f"{path} is not Python source: it holds null bytes, as UTF-16 does."
        if key == "script.path" and path.suffix != ".py":
            message = f"{path} is no script, but a binary program."
            raise _problem("code_unreadable", key, message, "Write a script that starts it.")
        raise _problem("code_unreadable", key, message, "Save it as UTF-8.")
    return content


def _problem(
    code: str,
    key: str,
    message: str,
    hint: str = "Choose another file, or put it back in its place.",
) -> ProblemError:
    return ProblemError(Problem(code=code, field=key, message=message, hint=hint))
