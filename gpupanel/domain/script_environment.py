"""What a program of the person's own has of a shell that processes of gpupanel begin without."""

import os
from collections.abc import Mapping
from typing import Final

from gpupanel.domain.inherited_variables import Treatment, known_variable
from gpupanel.domain.process_environment import PLANNED_VARIABLES

_CHOSEN_IN_PROFILE: Final = (
    "TF_ENABLED_DEVICE_TYPES",
    "TF_PER_DEVICE_MEMORY_LIMIT_MB",
    "TF_FORCE_UNIFIED_MEMORY",
)
"""Devices and memory, which the panel decides for every program."""
_PYTHON_PATH: Final = "PYTHONPATH"


def shell_variables_of_program(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """The variables that it would lack otherwise, as a terminal would give them to it.

    Args:
        environment: Of the shell.
        folder: The working directory of the shell, from which ``PYTHONPATH`` is meant.
    """
    kept = {}
    for name, text in environment.items():
        known = known_variable(name)
        is_changed = known is not None and (
            known.treatment is Treatment.CLEARED or known.value is not None
        )
        is_chosen = name in PLANNED_VARIABLES or name in _CHOSEN_IN_PROFILE
        if is_changed and not is_chosen and known is not None and known.reader != "Qt":
            kept[name] = text
    entries = environment.get(_PYTHON_PATH, "").split(os.pathsep)
    if any(entry and not entry.startswith("/") for entry in entries):
        kept[_PYTHON_PATH] = os.pathsep.join(
            os.path.normpath(f"{folder}/{entry}") if not entry.startswith("/") else entry
            for entry in entries
            if entry
        )
    return kept
