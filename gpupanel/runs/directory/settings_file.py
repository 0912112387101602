"""A file in the folder of what a person set: TOML, one value of settings."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

import tomli_w
from pydantic import ValidationError

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.files.user_folders import HomeUnknownError, config_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.private_files import make_private_folder

_MOST_BYTES: Final = 2**16
Settings = TypeVar("Settings", bound=Value)


@dataclass(frozen=True, slots=True)
class SettingsFile(Generic[Settings]):
    """Reads and writes one file of settings.

    Attributes:
        name: Of the file.
        kind: What it holds.
        of: What they are settings of, for sentences.
        code: The code of the problem that it cannot be used.
        hint: What to do about that, and what holds until then.
    """

    name: str
    kind: type[Settings]
    of: str
    code: str
    hint: str

    def path(self) -> Path:
        """Where the file is, or would be.

        Raises:
            ProblemError: Nobody knows where the user's home folder is.
        """
        try:
            return config_folder() / self.name
        except HomeUnknownError as error:
            raise ProblemError(disk_problem(error, Path("~"))) from error

    def read(self) -> Settings:
        """The settings as the file has them; without a file as they are at first.

        Raises:
            ProblemError: The file cannot be read, or is none of this kind.
        """
        path = self.path()
        try:
            with open_regular(path) as file:
                content = file.read(_MOST_BYTES)
        except FileNotFoundError:
            return self.kind()
        except OSError as error:
            raise ProblemError(disk_problem(error, path)) from error
        try:
            return self.kind.model_validate(tomllib.loads(content.decode()))
        except (ValueError, RecursionError) as error:
            raise ProblemError(self._unreadable(path, error)) from error

    def write(self, settings: Settings) -> None:
        """Keep the settings, readable by the person alone.

        Raises:
            ProblemError: They cannot be written.
        """
        path = self.path()
        try:
            make_private_folder(path.parent, parents=True)
            document = settings.model_dump(mode="json", exclude_defaults=True)
            write_whole(path, tomli_w.dumps(document), private=True)
        except OSError as error:
            raise ProblemError(disk_problem(error, path)) from error

    def _unreadable(self, path: Path, error: Exception) -> Problem:
        # Not pydantic's own words, which repeat what was written: it may be a secret.
        names = _wrong_keys(error)
        what = ", ".join(map(visible_beginning, names)) if names else "it is no TOML"
        return Problem(
            code=self.code,
            message=f"The settings of {self.of}, {visible_line(str(path))}, cannot be used: "
            f"{what}.",
            hint=self.hint,
        )


def _wrong_keys(error: Exception) -> list[str]:
    if not isinstance(error, ValidationError):
        return []
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [".".join(map(str, each["loc"])) for each in found]
