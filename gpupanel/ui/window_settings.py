"""What a person can set of the window itself; none of it belongs to a profile."""

import os
from pathlib import Path

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import Value
from gpupanel.runs.locations import RUNS_DIR_VARIABLE, default_runs_dir
from gpupanel.runs.named_paths import checked_path, expanded_path


class ThemeChoice(ChoiceEnum):
    """Light or dark."""

    SYSTEM = "system", "As the system", "Light or dark, as the desktop is."
    LIGHT = "light", "Light", "Dark text on a light background."
    DARK = "dark", "Dark", "Light text on a dark background."


class SamplingChoice(ChoiceEnum):
    """How often devices are read while no run records them."""

    QUARTER = "250", "Every 0.25 s", "Follows quick changes; costs about 1 % of a core."
    HALF = "500", "Every 0.5 s", "Twice a second."
    ONE = "1000", "Every second", "Once a second."
    TWO = "2000", "Every 2 s", "Spares a laptop's battery."
    FIVE = "5000", "Every 5 s", "Spares a slow driver."

    @property
    def milliseconds(self) -> int:
        """The time from the end of one reading to the beginning of the next."""
        return int(self.value)


class WindowSettings(Value):
    """Settings of the window, kept from window to window."""

    theme: ThemeChoice = setting(
        "Theme", "Light or dark. Takes effect at once.", default=ThemeChoice.SYSTEM
    )
    notifications: bool = setting(
        "Desktop notifications",
        "A desktop notification when a run ends or needs attention while the window is inactive.",
        default=True,
    )
    sampling: SamplingChoice = setting(
        "Read devices",
        "How often the window reads utilization, memory and temperature. Takes effect at once. "
        "What a run records of its devices does not depend on it.",
        default=SamplingChoice.ONE,
    )
    runs_dir: str = setting(
        "Runs folder",
        "Where new runs are kept; empty: in your data folder. Takes effect when gpupanel is opened "
        f"the next time. In a terminal, {RUNS_DIR_VARIABLE} names the folder.",
        default="",
        path=PathKind(suffixes=(), name="", title="Choose the folder of runs"),
    )


def runs_folder(settings: WindowSettings) -> Path:
    """The folder of runs: the environment's, else the one that was set, else the user's own.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    if os.environ.get(RUNS_DIR_VARIABLE) or runs_folder_problem(settings.runs_dir) is not None:
        return default_runs_dir()
    chosen = settings.runs_dir
    return expanded_path(chosen).absolute() if chosen else default_runs_dir()


def runs_folder_problem(path: str) -> Problem | None:
    """Why runs cannot be kept there; ``None``: they can, or it is empty.

    Args:
        path: As it was typed.
    """
    if not path:
        return None
    try:
        folder = expanded_path(checked_path(path))
    except ProblemError as error:
        return error.problems[0]
    if not folder.is_absolute():
        return _problem("The runs folder has to begin with / or ~.", "Choose it with Browse….")
    try:
        # The folder, or what of its path is there already.
        there = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
        is_other, may_write = not there.is_dir(), os.access(there, os.W_OK | os.X_OK)
    except OSError:
        there, is_other, may_write = folder, False, False
    if is_other:
        return _problem(f"{there} is a file, not a folder.", "Choose a folder.")
    if not may_write:
        return _problem(
            f"Nothing can be written to {folder}.",
            "Choose a folder of your own, or have it shared.",
        )
    return None


def _problem(message: str, hint: str) -> Problem:
    return Problem(code="runs_folder_unusable", field="runs_dir", message=message, hint=hint)
