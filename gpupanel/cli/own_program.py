"""A program that is named in the place of a profile: ``gpupanel run train.py -- --epochs 5``."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.domain.script import PYTHON_SUFFIX
from gpupanel.domain.script_environment import shell_variables_of_program
from gpupanel.domain.visible_text import as_utf8

_PROFILE_SUFFIX: Final = ".toml"


def is_program(path: Path) -> bool:
    """Whether that is a program to run; what ends with .toml is a profile."""
    return path.suffix != _PROFILE_SUFFIX


def profile_of_program(path: Path, arguments: list[str], python: Path | None = None) -> Profile:
    """The profile that runs it as this terminal would: its folder, its Python, its variables.

    Args:
        path: The program.
        arguments: What it is given.
        python: The Python that runs it; ``None``: the one that ``python`` means here.

    Raises:
        ProblemError: It cannot be run so: an argument is longer than a profile holds, for one.
    """
    folder = Path.cwd()
    script = {
        "path": str(path),
        "arguments": arguments,
        "working_directory": str(folder),
        "python": _python(python) if path.suffix.lower() == PYTHON_SUFFIX else "",
        "environment": shell_variables_of_program(os.environ, str(folder)),
    }
    return profile_from_document({"name": as_utf8(path.stem)[:LONGEST_NAME], "script": script})


def _python(named: Path | None) -> str:
    if named is not None:
        return str(named)
    found = shutil.which("python") or shutil.which("python3")
    # The same folder of programs is the same environment, whatever its links lead to.
    is_ours = found is None or Path(found).parent == Path(sys.executable).parent
    return "" if is_ours or found is None else found
