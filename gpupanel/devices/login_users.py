"""Who besides this user can log in to this machine."""

import os
import pwd
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from gpupanel.devices.child_process import ask_child

_FIRST_PERSON: Final = 1000
"""Where login.defs(5) sets no ``UID_MIN``; numbers below belong to the system's services."""
_USUAL_SHELLS: Final = frozenset({"/bin/sh", "/bin/csh"})
"""Where nobody made a list of shells (getusershell(3))."""
_DEFAULT_SHELL: Final = "/bin/sh"
_NO_SHELLS: Final = frozenset({"nologin", "false", "true", "sync"})
"""They end at once; some systems list them among the shells."""
_TIME_LIMIT_S: Final = 3.0
"""A directory service with many users may be slow, or not answer at all."""


def listed_accounts() -> str:
    """The users of this machine as passwd(5) writes them, those of a directory service, too."""
    try:
        answer = ask_child(("getent", "passwd"), _TIME_LIMIT_S)
    except OSError:
        return _text(Path("/etc/passwd"))
    # What is cut off half-way lacks somebody.
    whole = answer.output.decode(errors="replace") if answer.exit_code == 0 else ""
    return whole or _text(Path("/etc/passwd"))


def other_login_users(
    own_number: int | None = None,
    root: Path = Path("/"),
    list_accounts: Callable[[], str] = listed_accounts,
) -> tuple[str, ...]:
    """Names of the users who can log in, or are logged in, in order.

    Neither root, who can do anything in any case, nor the one who asks, nor services. Whether a
    password is locked only root can read, so an account with a login shell counts.

    Args:
        own_number: Of the user who asks; this process's when left out.
        root: Where the file system begins.
        list_accounts: Gives the accounts as passwd(5) writes them.
    """
    own = os.getuid() if own_number is None else own_number
    first, shells = _first_person(root), _shells(root)
    accounts = {account.number: account for account in _accounts(list_accounts())}
    people = {number for number, account in accounts.items() if account.shell in shells}
    # A directory service may list nobody before somebody asks for one by name; and who is logged
    # in may have a shell that nobody listed.
    for number in _logged_in(root):
        account = accounts[number] = accounts.get(number) or _account(number)
        if Path(account.shell).name not in _NO_SHELLS:
            people.add(number)
    return tuple(
        sorted(accounts[number].name for number in people if number >= first and number != own)
    )


@dataclass(frozen=True, slots=True)
class _Account:
    name: str
    number: int
    shell: str


def _account(number: int) -> _Account:
    try:
        found = pwd.getpwuid(number)
    except KeyError:
        return _Account(f"user {number}", number, _DEFAULT_SHELL)
    return _Account(found.pw_name, number, found.pw_shell or _DEFAULT_SHELL)


def _accounts(text: str) -> Iterator[_Account]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 7 and fields[2].isdecimal():
            yield _Account(fields[0], int(fields[2]), fields[6] or _DEFAULT_SHELL)


def _shells(root: Path) -> frozenset[str]:
    lines = [line.strip() for line in _text(root / "etc/shells").splitlines()]
    listed = frozenset(line for line in lines if line.startswith("/")) or _USUAL_SHELLS
    return frozenset(shell for shell in listed if Path(shell).name not in _NO_SHELLS)


def _first_person(root: Path) -> int:
    found = re.search(r"^\s*UID_MIN\s+(\d+)", _text(root / "etc/login.defs"), re.MULTILINE)
    return int(found[1]) if found else _FIRST_PERSON


def _logged_in(root: Path) -> Iterator[int]:
    """Who has a session: logind makes each user a folder, older systems keep a list."""
    try:
        folders = [each.name for each in (root / "run/user").iterdir()]
    except OSError:
        folders = []  # no logind
    yield from (int(name) for name in folders if name.isdecimal())
    for session in psutil.users():
        try:
            yield pwd.getpwnam(session.name).pw_uid
        except KeyError:
            continue  # of a user who was removed


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
