"""Profiles as files: read with every mistake reported, written all or nothing."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.toml_text import read_toml
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.named_paths import checked_path, expanded_path

LARGEST_PROFILE_BYTES = 2**20
_FIRST_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def read_profile(path: Path) -> Profile:
    """The profile in a file; relative paths in it are taken from the file's folder.

    Raises:
        ProblemError: The file cannot be read or holds no profile; one problem for each mistake.
    """
    return _read(path, open_regular)


def read_run_profile(layout: RunLayout) -> Profile:
    """The profile that a run was started with.

    Raises:
        ProblemError: It cannot be read, or holds something else; one problem for each mistake.
    """
    return _read(layout.profile, open_to_read)


def read_sweep_profile(path: Path) -> Profile:
    """The profile that a sweep was started with.

    Raises:
        ProblemError: It cannot be read, or holds something else; one problem for each mistake.
    """
    return _read(path, open_to_read)


def run_profile_if_readable(layout: RunLayout) -> Profile | None:
    """The profile that a run was started with; ``None``: it cannot be read any more."""
    try:
        return read_run_profile(layout)
    except ProblemError:
        return None


def _read(path: Path, open_file: Callable[[Path], BinaryIO]) -> Profile:
    return profile_in(read_profile_content(path, open_file), path)


def read_profile_content(path: Path, open_file: Callable[[Path], BinaryIO] = open_to_read) -> bytes:
    """All that stands in a profile's file, and no more than may stand in one.

    Raises:
        ProblemError: It cannot be read, or is too large.
    """
    try:
        with open_file(path) as file:
            content = file.read(LARGEST_PROFILE_BYTES + 1)
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error
    if len(content) > LARGEST_PROFILE_BYTES:
        raise ProblemError(_not_a_profile(path, "it is larger than 1 MiB"))
    return content


def profile_in(content: bytes, path: Path) -> Profile:
    """The profile that all of a file says; relative paths in it are taken from its folder.

    Raises:
        ProblemError: It holds something else; one problem for each mistake.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ProblemError(_not_a_profile(path, f"it is not UTF-8 text ({error})")) from error
    return anchored(parse_profile(text), path.absolute().parent)


class ProfileHead(BaseModel):
    """The keys above the tables of a profile; of one of a newer version, too."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = 1
    name: str = ""
    task: str = "train"
    model_path: str = ""
    """The path of the saved model that the run uses; empty if it builds one."""


def read_profile_head(layout: RunLayout) -> ProfileHead:
    """The keys above the tables of the run's profile, and which saved model it takes.

    The rest is not validated: that would take longer than all else of a list of a thousand runs.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no profile.
    """
    with open_to_read(layout.profile) as file:
        text = file.read(LARGEST_PROFILE_BYTES).decode().replace("\r\n", "\n")
    head = ProfileHead.model_validate(_document_above_tables(text))
    if head.task == "train":
        return head
    try:
        model = read_toml(text).get("model")
    except ValueError:
        return head  # whoever reads the whole profile says what is wrong with it
    path = model.get("path") if isinstance(model, dict) else None
    return head.model_copy(update={"model_path": path if isinstance(path, str) else ""})


def _document_above_tables(text: str) -> dict[str, Any]:
    table = _FIRST_TABLE.search(text)
    if table is not None:
        try:
            return read_toml(text[: table.start()])
        except ValueError:
            pass  # what looks like a table is inside of a value
    return read_toml(text)


def anchored(profile: Profile, folder: Path) -> Profile:
    """The profile with relative paths of data, model and program taken from that folder, absolute.

    Raises:
        ProblemError: Such a path cannot be used, or not be written into a profile.
    """

    def from_folder(key: str, path: str, within: str) -> str:
        base = folder / expanded_path(within, key)
        return checked_path(os.path.normpath(base / expanded_path(path, key)), key)

    return _with_paths(profile, from_folder)


def write_profile(path: Path, profile: Profile, *, private: bool = False) -> None:
    """Write the profile beside and rename: the file is the old one or the new one, never half.

    Paths inside the file's folder are written relative to it, so that all can move together.

    Args:
        path: The file.
        profile: What it is to hold.
        private: Let its owner only read it.

    Raises:
        ProblemError: The file cannot be written, or belongs to a run; the old one is untouched.
    """
    check_outside_of_runs(path)
    try:
        place = path if private else _written_place(path)
        folder = path.absolute().parent

        def from_folder(_key: str, inside: str, within: str) -> str:
            found, base = Path(inside), folder / within
            are_here = found.is_relative_to(folder) and base.is_relative_to(folder)
            if not are_here and not found.is_relative_to(base):
                return inside
            relative = os.path.relpath(found, base)
            # Read again, it would be somebody's home.
            return inside if relative.startswith("~") else relative

        write_whole(place, dump_profile(_with_paths(profile, from_folder)), private=private)
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error


def _written_place(path: Path) -> Path:
    """The file itself; what a link to a profile leads to: people keep profiles among dotfiles.

    A link to anything else is left for :func:`write_whole` to refuse.
    """
    if not path.is_symlink():
        return path
    try:
        read_profile(path)
    except ProblemError:
        return path
    return path.resolve()


def _with_paths(profile: Profile, change: Callable[[str, str, str], str]) -> Profile:
    """The profile with each path that was chosen changed.

    ``change`` gets its key, too, and the path that a relative one is meant from, empty where that
    is the profile's folder.
    """
    update: dict[str, object] = {}
    for table, value in (("data", profile.data), ("model", profile.model)):
        paths = {
            key: change(f"{table}.{key}", path, value.path_before(key))
            for key, path in value.chosen_paths.items()
        }
        update[table] = value.model_copy(update=paths)
    if profile.script is not None:
        update["script"] = _script_with_paths(profile.script, change)
    return profile.model_copy(update=update)


def _script_with_paths(
    script: ScriptSettings, change: Callable[[str, str, str], str]
) -> ScriptSettings:
    named = {"path": script.path, "working_directory": script.working_directory}
    if os.sep in script.python:  # else it is a command, which PATH has
        named["python"] = script.python
    paths = {key: change(f"script.{key}", path, "") for key, path in named.items() if path}
    return script.model_copy(update=paths)


def _not_a_profile(path: Path, why: str) -> Problem:
    return Problem(
        code="profile_not_toml",
        message=f"{path} is not a profile: {why}.",
        hint="Choose a .toml file that gpupanel saved, or write one by hand.",
    )
