"""The profile that a command of the terminal names, or why it cannot be used."""

from pathlib import Path
from typing import Final

from gpupanel.cli.output import EXIT_BAD_PROFILE, refuse
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.script_document import own_program
from gpupanel.runs.directory.profile_file import anchored, read_profile

_HINT: Final = "Name a profile whose task is train."


def named_profile(path: Path, *, json: bool) -> Profile:
    """The profile in that file; relative paths in it are taken from the working directory.

    Raises:
        Exit: It cannot be read, and that was printed.
    """
    try:
        return anchored(read_profile(path), Path.cwd())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)


def training_profile(path: Path, *, code: str, without: str, json: bool) -> Profile:
    """As :func:`named_profile`, of a command that is for training alone.

    Args:
        path: The profile's.
        code: Of the problem that it trains nothing.
        without: What follows from that: a sentence's end ("it has no learning rate").
        json: Whether a problem is printed as JSON.

    Raises:
        Exit: It cannot be read or trains nothing, and that was printed.
    """
    profile = named_profile(path, json=json)
    if profile.script is not None:
        refuse(ProblemError(own_program(without)), json=json, status=EXIT_BAD_PROFILE)
    if profile.task != "train":
        message = f"The profile trains nothing: {without}."
        problem = Problem(code=code, field="task", message=message, hint=_HINT)
        refuse(ProblemError(problem), json=json, status=EXIT_BAD_PROFILE)
    return profile
