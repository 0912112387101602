"""Templates that come with gpupanel: profile, data and model of a common shape, to be changed."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files import resources
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs

PROFILE_NAME: Final = "profile.toml"


@dataclass(frozen=True, slots=True)
class Template:
    """One of them.

    Attributes:
        name: As the terminal calls it, and as a copy's folder is suggested to be called.
        title: What people read.
        about: What it is for; a sentence.
        files: Those that a copy has.
    """

    name: str
    title: str
    about: str
    files: tuple[Path, ...]


@cache  # they stay as they are
def templates() -> tuple[Template, ...]:
    """All of them, in the order of their titles."""
    folders = [path.parent for path in resources.path("templates").glob(f"*/{PROFILE_NAME}")]
    return tuple(sorted(map(_read, folders), key=lambda template: template.title))


def copy_template(template: Template, folder: Path) -> Path:
    """Write the files of a template into a folder of its own.

    Args:
        template: Which.
        folder: It is made; one that is there is to be empty.

    Returns:
        The profile.

    Raises:
        ProblemError: Something is in that folder, it cannot be written, or it belongs to a run.
    """
    profile = folder / PROFILE_NAME
    check_outside_of_runs(profile)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ProblemError(_occupied(folder))
        for path in template.files:
            write_whole(folder / path.name, path.read_bytes())
    except OSError as error:
        raise ProblemError(disk_problem(error, folder)) from error
    return profile


def _read(folder: Path) -> Template:
    text = (folder / PROFILE_NAME).read_text(encoding="utf-8")
    return Template(
        name=folder.name,
        title=tomllib.loads(text)["name"],
        about=text.partition("\n")[0].removeprefix("# "),
        # Python may have left what it compiled of them.
        files=tuple(sorted(path for path in folder.iterdir() if path.is_file())),
    )


def _occupied(folder: Path) -> Problem:
    return Problem(
        code="folder_not_empty",
        message=f"{folder} has something in it already, so no template was put there.",
        hint="Choose a new folder, or an empty one.",
    )
