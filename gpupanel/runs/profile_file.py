"""Profiles as files: read with every mistake told, written all or nothing."""

import os
import shutil
from pathlib import Path

from gpupanel.domain.data import ImagesData, NpzData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.runs.disk_problems import disk_problem

LARGEST_PROFILE_BYTES = 2**20


def read_profile(path: Path) -> Profile:
    """The profile in a file; a relative data path is taken from the file's folder.

    Raises:
        ProblemError: The file cannot be read or holds no profile; one problem for each mistake.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_PROFILE_BYTES + 1)
        text = content.decode()
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error
    except UnicodeDecodeError as error:
        raise ProblemError(_not_a_profile(path, f"it is not UTF-8 text ({error})")) from error
    if len(content) > LARGEST_PROFILE_BYTES:
        raise ProblemError(_not_a_profile(path, "it is larger than 1 MiB"))
    return anchored(parse_profile(text), path.absolute().parent)


def anchored(profile: Profile, folder: Path) -> Profile:
    """The profile with a relative data path taken from that folder, absolute."""
    data = profile.data
    if not isinstance(data, NpzData | ImagesData) or not data.path:
        return profile
    found = folder / Path(data.path).expanduser()
    return _with_data_path(profile, Path(os.path.normpath(found)))


def write_profile(path: Path, profile: Profile) -> None:
    """Write the profile beside and rename: the file is the old one or the new one, never half.

    A data path inside the file's folder is written relative to it, so that both can move.

    Raises:
        ProblemError: The file cannot be written; the old one is untouched.
    """
    folder = path.absolute().parent
    data = profile.data
    if isinstance(data, NpzData | ImagesData) and Path(data.path).is_relative_to(folder):
        profile = _with_data_path(profile, Path(data.path).relative_to(folder))
    try:
        write_whole(path, dump_profile(profile))
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file all or nothing.

    Raises:
        OSError: It cannot be written; what stood there before still stands.
    """
    # A plain new file, not a temporary one, which nobody but its owner could read: a profile is
    # there to be shared.
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _with_data_path(profile: Profile, path: Path) -> Profile:
    data = profile.data.model_copy(update={"path": str(path)})
    return profile.model_copy(update={"data": data})


def _not_a_profile(path: Path, why: str) -> Problem:
    return Problem(
        code="profile_not_toml",
        message=f"{path} is not a profile: {why}.",
        hint="Choose a .toml file that gpupanel saved, or write one by hand.",
    )
