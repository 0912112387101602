"""Which Python code the person trusts: remembered by the hash of its content.

A file that was changed is another one and is asked about again; a copy of a trusted one is not.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.regular_files import obstacle, open_regular
from gpupanel.files.user_folders import config_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.private_files import make_private_folder
from gpupanel.runs.trust.user_code import UserCode, code_of_profile

_MOST_BYTES: Final = 16 * 2**20
"""Some 60,000 files."""


class CodeNotTrustedError(ProblemError):
    """Code would be carried out that the person has not trusted yet.

    Attributes:
        code: Which; it can be trusted as it is here, whatever becomes of the files meanwhile.
    """

    def __init__(self, code: Sequence[UserCode]) -> None:
        super().__init__(*(not_trusted(each) for each in code))
        self.code = tuple(code)


class _Trust(Value):
    """When somebody trusted it, and where it was then; for people who read the file."""

    path: str
    trusted_s: float


class _TrustedCode(Value):
    """The file ``trusted.json``."""

    trusted: dict[str, _Trust] = Field(default_factory=dict)
    """Trusted files by the hash of their content."""


def check_trusted(code: Sequence[UserCode]) -> None:
    """Refuse code that is not trusted.

    Raises:
        CodeNotTrustedError: Some of it is not.
    """
    unknown = untrusted(code)
    if unknown:
        raise CodeNotTrustedError(unknown)


def untrusted(code: Sequence[UserCode]) -> tuple[UserCode, ...]:
    """The files whose content was never trusted."""
    known = _read().trusted if code else {}
    return tuple(each for each in code if each.sha256 not in known)


def trust(code: Sequence[UserCode]) -> None:
    """Remember that the person trusts this content.

    Raises:
        ProblemError: It cannot be remembered.
    """
    if not code:
        return
    place = trusted_file()
    try:
        make_private_folder(place.parent, parents=True)
        with lock_in_folder(place.with_name(f"{place.name}.lock")):
            known = dict(_read().trusted)
            if _is_damaged():
                # What else it remembered somebody may still read there.
                place.replace(place.with_name("trusted.damaged.json"))
            for each in code:
                known[each.sha256] = _Trust(path=str(each.path), trusted_s=time.time())
            content = _TrustedCode(trusted=known).model_dump_json(indent=2)
            write_whole(place, content, private=True)
    except OSError as error:
        raise ProblemError(disk_problem(error, place)) from error


def code_problems(profile: Profile) -> tuple[Problem, ...]:
    """What stands against carrying out the code that a profile names, which is only read here.

    Files that were not chosen yet are reported by the planning.
    """
    try:
        code = code_of_profile(profile)
    except ProblemError as error:
        return error.problems
    return tuple(not_trusted(each, Severity.WARNING) for each in untrusted(code))


def not_trusted(code: UserCode, severity: Severity = Severity.ERROR) -> Problem:
    """The problem of code that would not be carried out."""
    if code.key == "script":
        message = f"How {code.path} is started was not trusted in this form yet."
    else:
        kind = "a program" if code.key == "script.path" else "Python code"
        message = (
            f"{code.path} is {kind} that was not trusted in this form yet, and a run would "
            "execute it."
        )
    return Problem(
        code="code_not_trusted",
        severity=severity,
        field=code.key,
        message=message,
        hint="Read it; if you trust it, start with --trust, which remembers this content.",
        detail=f"sha256 {code.sha256}",
    )


def trust_problem() -> Problem | None:
    """Why the file cannot be read; ``None``: it can, or there is none."""
    place = trusted_file()
    found = obstacle(place) or ("it is damaged" if _is_damaged() else None)
    if found is None:
        return None
    return Problem(
        code="trust_unreadable",
        severity=Severity.WARNING,
        message=f"The list of trusted code, {visible_line(str(place))}, cannot be read: {found}. "
        "No code counts as trusted.",
        hint="Move it away; a run with your own code then asks again.",
    )


def trusted_file() -> Path:
    """Where it is remembered: ``trusted.json`` in the user's configuration of gpupanel.

    Raises:
        HomeUnknownError: Nobody knows where the user's home folder is.
    """
    return config_folder() / "trusted.json"


def _read() -> _TrustedCode:
    """What is remembered; nothing, where the file is missing or cannot be read."""
    try:
        return _read_strictly()
    except (OSError, ValidationError):
        # Asking again does no harm; taking a damaged file for trust would.
        return _TrustedCode()


def _is_damaged() -> bool:
    try:
        _read_strictly()
    except ValidationError:
        return True
    except OSError:
        return False
    return False


def _read_strictly() -> _TrustedCode:
    """What is remembered.

    Raises:
        OSError: There is no such file, or it cannot be opened.
        ValidationError: It is damaged, or larger than any.
    """
    with open_regular(trusted_file()) as file:
        content = file.read(_MOST_BYTES + 1)
    return _TrustedCode.model_validate_json(content if len(content) <= _MOST_BYTES else b"")
