"""How the program is started: its command, its environment, and the folder it works in."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gpupanel import script_process
from gpupanel.domain.child_command import bundled_command
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import (
    CHECKED_VARIABLE,
    NODE_VARIABLE,
    PROCESS_VARIABLE,
    SUPERVISOR_PID_VARIABLE,
)
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.visible_text import visible_line

_OF_THE_PARENT: Final = (
    CHECKED_VARIABLE,
    NODE_VARIABLE,
    PROCESS_VARIABLE,
    SUPERVISOR_PID_VARIABLE,
    # Set for every process of gpupanel's; a program has the backend that it wants.
    "KERAS_BACKEND",
)
_START: Final = Path(script_process.__file__).with_name("start.py")


def command_of(script: ScriptSettings, plan: LaunchPlan) -> list[str]:
    """What is executed.

    No ``-P``: a file is run, and Python then searches the folder of that file, not the one it
    works in; a Python before 3.11 would refuse it.

    Raises:
        ProblemError: There is no Python to run it with.
    """
    if not script.is_python:
        return [script.path, *script.filled_arguments]
    return [_python(script), str(_START), _handed_over(plan), script.path, *script.filled_arguments]


def environment_of(script: ScriptSettings, inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables of the program: those of this process but for its own, and the profile's.

    Args:
        script: What was chosen.
        inherited: The variables of this process, with those that the plan sets.
    """
    kept = {name: text for name, text in inherited.items() if name not in _OF_THE_PARENT}
    return {**kept, **script.environment}


def working_directory_of(script: ScriptSettings) -> str:
    """Where the program works.

    Raises:
        ProblemError: There is no such folder.
    """
    folder = script.working_directory or str(Path(script.path).parent)
    if Path(folder).is_dir():
        return folder
    raise ProblemError(
        Problem(
            code="script_folder_missing",
            field="script.working_directory",
            message=f"The working directory {visible_line(folder)} does not exist.",
            hint="Choose another one, or make it.",
        )
    )


def not_started(script: ScriptSettings, error: OSError) -> ProblemError:
    """Why the system did not start it."""
    first = script.path if not script.is_python else (script.python or sys.executable)
    hint = "Choose another Python in script.python, or leave it out."
    if not script.is_python:
        hint = "Make it executable (chmod +x), and let its first line name what runs it (#!)."
    return ProblemError(
        Problem(
            code="script_not_started",
            field="script.python" if script.is_python else "script.path",
            message=f"{visible_line(first)} cannot be executed: {error.strerror}.",
            hint=hint,
        )
    )


def _python(script: ScriptSettings) -> str:
    if script.python:
        return script.python
    if bundled_command() is None:
        return sys.executable
    raise ProblemError(
        Problem(
            code="script_python_missing",
            field="script.python",
            message="This gpupanel is a bundle, which has no Python for programs of your own.",
            hint="Name one that has what the program needs: script.python = "
            '".venv/bin/python", or --python.',
        )
    )


def _handed_over(plan: LaunchPlan) -> str:
    """What the hooks in the program are told, as ``gpupanel/script_process/hooks.py`` reads it."""
    devices = [
        {
            "kind": device.kind.value,
            "index": device.index,
            "name": device.name,
            "growth": device.memory_growth,
            "limits_mib": list(device.logical_limits_mib),
        }
        for device in plan.devices
    ]
    is_mirrored = plan.strategy is StrategyKind.MIRRORED
    mirrored = [replica.logical_device for replica in plan.replicas] if is_mirrored else []
    return json.dumps({"devices": devices, "mirrored": mirrored})


def check_is_there(script: ScriptSettings) -> None:
    """Refuse a program that is a notebook, or nothing that can be executed.

    Raises:
        ProblemError: It is.
    """
    if script.path.endswith(".ipynb"):
        raise ProblemError(
            Problem(
                code="script_is_notebook",
                field="script.path",
                message=f"{visible_line(script.name)} is a notebook, which is no program.",
                hint="Make a program of it: jupyter nbconvert --to script NOTEBOOK.",
            )
        )
    if not script.is_python and not os.access(script.path, os.X_OK):
        raise not_started(script, PermissionError(13, "Permission denied"))
