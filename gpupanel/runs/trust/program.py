"""Whether a program of the person's own can be started at all, as its files say."""

import os
import shutil
from pathlib import Path

from gpupanel.domain.problem import Problem
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.named_paths import expanded_path


def program_problem(script: ScriptSettings) -> Problem | None:
    """Why it cannot be started; ``None``: nothing is known against it.

    Args:
        script: Relative paths in it are taken from the working directory.
    """
    if script.path.endswith(".ipynb"):
        return Problem(
            code="script_is_notebook",
            field="script.path",
            message=f"{visible_line(script.name)} is a notebook, which is no program.",
            hint="Make a program of it: jupyter nbconvert --to script NOTEBOOK.",
        )
    path = expanded_path(script.path, "script.path")
    if not script.is_python and path.is_file() and not _is_started_by_itself(path):
        return Problem(
            code="script_not_started",
            field="script.path",
            message=f"{visible_line(script.name)} is no Python file, and the system does not know "
            "how to start it.",
            hint="Make it executable (chmod +x), and let its first line name what runs it "
            "(#!/bin/sh).",
        )
    if script.is_python and script.python and not _is_command(script.python):
        return Problem(
            code="script_not_started",
            field="script.python",
            message=f"There is no program {visible_line(script.python)}, which is to run "
            f"{visible_line(script.name)}.",
            hint="Choose another Python in script.python, or leave it out.",
        )
    folder = expanded_path(script.working_directory, "script.working_directory")
    if script.working_directory and not folder.is_dir():
        return Problem(
            code="script_folder_missing",
            field="script.working_directory",
            message=f"The working directory {visible_line(str(folder))} does not exist.",
            hint="Choose another one, or make it.",
        )
    return None


def _is_started_by_itself(path: Path) -> bool:
    if not os.access(path, os.X_OK):
        return False
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True  # who reads it says why it cannot be read


def _is_command(name: str) -> bool:
    if os.sep in name:
        name = str(expanded_path(name, "script.python"))
    return shutil.which(name) is not None
