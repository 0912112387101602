"""Profiles as files: read with every mistake told, written all or nothing."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.data import ImagesData, NpzData, PythonData
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs

LARGEST_PROFILE_BYTES = 2**20


def read_profile(path: Path) -> Profile:
    """The profile in a file; relative paths in it are taken from the file's folder.

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
    """The profile with relative paths of data and model taken from that folder, absolute."""
    return _with_paths(
        profile, lambda path: Path(os.path.normpath(folder / Path(path).expanduser()))
    )


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
    folder = path.absolute().parent

    def from_folder(inside: str) -> Path:
        found = Path(inside)
        return found.relative_to(folder) if found.is_relative_to(folder) else found

    try:
        write_whole(path, dump_profile(_with_paths(profile, from_folder)), private=private)
    except OSError as error:
        raise ProblemError(disk_problem(error, path)) from error


def write_whole(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file all or nothing.

    Args:
        path: The file.
        content: What it is to hold; text as UTF-8.
        private: Let its owner only read it, as all in a run's directory; a profile is there to be
            shared.

    Raises:
        OSError: It cannot be written; what stood there before still stands.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if private:
            beside.chmod(0o600)
        elif path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _with_paths(profile: Profile, change: Callable[[str], Path]) -> Profile:
    """The profile with each path that was chosen changed."""
    data, model = profile.data, profile.model
    if isinstance(data, NpzData | ImagesData | PythonData) and data.path:
        data = data.model_copy(update={"path": str(change(data.path))})
    if isinstance(model, SavedModel | PythonModel) and model.path:
        model = model.model_copy(update={"path": str(change(model.path))})
    return profile.model_copy(update={"data": data, "model": model})


def _not_a_profile(path: Path, why: str) -> Problem:
    return Problem(
        code="profile_not_toml",
        message=f"{path} is not a profile: {why}.",
        hint="Choose a .toml file that gpupanel saved, or write one by hand.",
    )
