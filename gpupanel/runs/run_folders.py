"""The folder that a new run gets: of its own name, or of one that somebody gives it."""

import os
from datetime import datetime
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.run_name import is_run_name, slug
from gpupanel.domain.visible_text import visible_line

_OF_ONE_NOT_BEGUN: Final = frozenset(
    ("plan.json", "requests", "trainer.log", "code", "start.keras")
)
"""What stands in the folder of a run whose making was ended in the middle."""


def new_run_folder(runs_dir: Path, profile_name: str) -> Path:
    """Make an empty folder that no other run has, named after the moment and the profile.

    Raises:
        OSError: It cannot be made.
    """
    moment = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    name = f"{moment}-{slug(profile_name)}"
    attempt = 1
    while True:
        directory = runs_dir / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            attempt += 1
        else:
            directory.chmod(0o700)  # a umask may have taken the owner's own rights
            return directory


def named_run(runs_dir: Path, name: str) -> RunLayout:
    """Where the run of that name is, or would be.

    Raises:
        ProblemError: No run can have that name.
    """
    if not is_run_name(name):
        raise ProblemError(_unusable(name))
    return RunLayout(runs_dir.absolute() / name)


def has_begun(layout: RunLayout) -> bool:
    """Whether a run of that name was started: it is continued instead of made anew."""
    return os.path.lexists(layout.events) or (
        os.path.lexists(layout.profile) and os.path.lexists(layout.plan)
    )


def named_run_folder(layout: RunLayout) -> Path:
    """Make the folder of a run by its name, or take one whose making was ended in the middle.

    Raises:
        ProblemError: Something else stands there.
        OSError: It cannot be made.
    """
    try:
        layout.root.mkdir(mode=0o700)
    except FileExistsError as error:
        is_own = not layout.root.is_symlink() and layout.root.is_dir()
        if not is_own or not {each.name for each in layout.root.iterdir()} <= _OF_ONE_NOT_BEGUN:
            raise ProblemError(_taken(layout)) from error
    layout.root.chmod(0o700)
    return layout.root


def _unusable(name: str) -> Problem:
    return Problem(
        code="run_name_unusable",
        message=f"No run can be named {visible_line(name)!r}.",
        hint="A name has up to 128 of the letters A to Z, a to z and 0 to 9, dots, dashes and "
        "underscores, and begins with a letter, a number or an underscore.",
    )


def _taken(layout: RunLayout) -> Problem:
    return Problem(
        code="run_name_taken",
        message=f"{layout.root} is there already, and is not a run.",
        hint="Give the run another name, or name another folder of runs by --runs-dir.",
    )
