"""The code that a profile names, as bytes: nothing here carries it out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import tomli_w

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.code_file import read_code_file
from gpupanel.files.guarded_files import make_folder, open_to_read
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.named_paths import checked_path, expanded_path
from gpupanel.runs.trust.program import program_problem


@dataclass(frozen=True, slots=True)
class UserCode:
    """One file of code at one moment.

    Attributes:
        key: The profile key that names it: ``model.path``, ``model.measures``, ``data.path`` or
            ``script.path``; ``script``: how a program is started.
        path: Where it was read.
        content: All of it.
    """

    key: str
    path: Path
    content: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """SHA-256 of the content in hexadecimal digits: what is trusted."""
        return digest_of(self.content)


def code_of_profile(profile: Profile) -> tuple[UserCode, ...]:
    """The code that a profile names, read now.

    Args:
        profile: A relative path in it is taken from the working directory.

    Raises:
        ProblemError: A file is missing, cannot be read, or is too large to be code; or a program
            cannot be started.
    """
    places = {
        key: expanded_path(checked_path(path, key), key).absolute()
        for key, path in _named(profile).items()
    }
    if profile.script is not None:
        problem = program_problem(profile.script)
        if problem is not None:
            raise ProblemError(problem)
    return (*_read_all(places, open_regular), *_command_of(profile))


def code_of_run(layout: RunLayout, profile: Profile) -> tuple[UserCode, ...]:
    """The code that a run was started with.

    Raises:
        ProblemError: The run's copy of it is missing or cannot be read.
    """
    places = _places(layout)
    files = _read_all(
        {key: places[key] for key in _named(profile)},
        lambda path: open_to_read(path, layout.root),
    )
    return (*files, *_command_of(profile))


def keep_code(layout: RunLayout, code: Sequence[UserCode]) -> None:
    """Write the code into the run's directory, where its trainer takes it from.

    Raises:
        OSError: It cannot be written.
    """
    if code:
        make_folder(layout.code)
    places = _places(layout)
    for each in code:
        write_whole(places[each.key], each.content, private=True, within=layout.root)


def digests_of_code(layout: RunLayout, code: Sequence[UserCode]) -> CheckedFiles:
    """The content of a run's code as it was read, by the names of the run's copies."""
    places = _places(layout)
    return CheckedFiles(
        digests={str(places[each.key].relative_to(layout.root)): each.sha256 for each in code}
    )


def _places(layout: RunLayout) -> dict[str, Path]:
    """The copies of a run's code, by the profile key that names the file."""
    return {
        "model.path": layout.model_code,
        "model.measures": layout.model_code,
        "data.path": layout.data_code,
        "script.path": layout.script_code,
        "script": layout.script_command,
    }


def _named(profile: Profile) -> dict[str, str]:
    """The paths of Python code in a profile, by their keys; those that are chosen."""
    named = {}
    if profile.script is not None:
        named["script.path"] = profile.script.path
    elif profile.model.is_code and profile.task == "train":
        named["model.path"] = profile.model.chosen_path
    elif profile.task == "evaluate":
        named["model.measures"] = profile.model.measures_path
    if profile.script is None and profile.data.is_code:
        named["data.path"] = profile.data.chosen_path
    return {key: path for key, path in named.items() if path}


def _command_of(profile: Profile) -> tuple[UserCode, ...]:
    """How a program of the person's own is started: it decides what is executed, as code does."""
    script = anchored(profile, Path.cwd()).script
    if script is None:
        return ()
    settings = script.model_dump(mode="json", exclude={"max_restarts", "values"})
    return (UserCode("script", Path(script.path), tomli_w.dumps(settings).encode()),)


def _read_all(
    files: Mapping[str, Path], open_file: Callable[[Path], BinaryIO]
) -> tuple[UserCode, ...]:
    read: list[UserCode] = []
    problems: list[Problem] = []
    for key, path in files.items():
        try:
            read.append(UserCode(key, path, read_code_file(path, key, open_file)))
        except ProblemError as error:
            problems += error.problems
    if problems:
        raise ProblemError(*problems)
    return tuple(read)
