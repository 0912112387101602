"""The person's settings of notes: a file of their own, which holds secrets."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Final

import tomli_w
from pydantic import ValidationError

from gpupanel.domain.notes import NoteSettings, setting_problems
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.files.user_folders import HomeUnknownError, config_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.private_files import make_private_folder

_MOST_BYTES: Final = 2**16


def notes_file() -> Path:
    """``notes.toml`` in the folder of what a person set.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    try:
        return config_folder() / "notes.toml"
    except HomeUnknownError as error:
        raise ProblemError(disk_problem(error, Path("~"))) from error


def read_note_settings() -> NoteSettings:
    """The settings as the file has them; without a file nothing is sent.

    Raises:
        ProblemError: The file cannot be read, or is none of this kind.
    """
    path = notes_file()
    try:
        with open_regular(path) as file:
            content = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return NoteSettings()
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error
    try:
        return NoteSettings.model_validate(tomllib.loads(content.decode()))
    except (ValueError, RecursionError) as error:
        raise ProblemError(_unreadable(path, error)) from error


def write_note_settings(settings: NoteSettings) -> None:
    """Keep the settings, readable by the person alone.

    Raises:
        ProblemError: They cannot be written.
    """
    path = notes_file()
    try:
        make_private_folder(path.parent, parents=True)
        document = settings.model_dump(mode="json", exclude_defaults=True)
        write_whole(path, tomli_w.dumps(document), private=True)
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error


def problems_of(settings: NoteSettings) -> tuple[Problem, ...]:
    """What is wrong with the settings, and with who may read their file."""
    path = notes_file()
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116 - of what a link leads to
    except OSError:
        mode = 0
    found = setting_problems(settings)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO) or not (settings.webhook or settings.command):
        return found
    return (
        *found,
        Problem(
            code="notes_readable_by_others",
            severity=Severity.WARNING,
            message=f"Others on this machine can read {visible_line(str(path))}, and the address "
            "of the webhook with it.",
            hint="Take that right from them, or save the settings in the window once.",
            command=f"chmod 600 {visible_line(str(path))}",
        ),
    )


def _unreadable(path: Path, error: Exception) -> Problem:
    # Not pydantic's own words, which repeat what was written: it may be a secret.
    names = [".".join(map(str, each["loc"])) for each in _errors(error)]
    what = ", ".join(map(visible_beginning, names)) if names else "it is no TOML"
    return Problem(
        code="notes_unreadable",
        message=f"The settings of notes, {visible_line(str(path))}, cannot be used: {what}.",
        hint="Mend that in the file, or set notes in the window's settings. Until then none is "
        "sent.",
    )


def _errors(error: Exception) -> list[dict[str, tuple[object, ...]]]:
    if not isinstance(error, ValidationError):
        return []
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [{"loc": tuple(each["loc"])} for each in found]
