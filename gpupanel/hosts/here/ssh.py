"""The person's own ``ssh``, and what its failures mean."""

import re
import shlex
from typing import Final

from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_beginning, visible_line

PROGRAM: Final = "gpupanel"
_NAME: Final = re.compile(r"[^-\s\x00-\x20][^\s\x00-\x20]{0,254}")
_OPTIONS: Final = (
    "-T",
    # A cable that was pulled is noticed within 20 s: at the fourth that has no answer.
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
    # Whatever ports the person forwards by their configuration belong to their terminal.
    *("-o", "ClearAllForwardings=yes"),
)
_OF_ITS_OWN: Final = ("-o", "ControlPath=none")
_ASKS_NOTHING: Final = ("-o", "BatchMode=yes")
_FAILED: Final = 255
"""What ``ssh`` exits with where it did not come to the program on the host (ssh(1))."""
_NOT_FOUND: Final = (126, 127)
"""What a shell exits with where it found no such program, or none that it may start."""
_REFUSED: Final = ("Permission denied", "Host key verification failed", "Too many authentication")


def host_problem(host: str) -> Problem | None:
    """Why something is no name of a host; ``None``: it can be one."""
    if _NAME.fullmatch(host):
        return None
    return Problem(
        code="host_name_unusable",
        message=f"{visible_beginning(host) or 'Nothing'} is not the name of a host.",
        hint="Give what ssh takes: a name of ~/.ssh/config, or user@host.",
    )


def ssh_command(
    host: str, program: str = PROGRAM, *, asks: bool = True, shares: bool = True
) -> tuple[str, ...]:
    """What starts the process of gpupanel on a host.

    Args:
        host: As the person gives it to ``ssh``.
        program: The command there; a path where its login shell does not find it.
        asks: Whether ``ssh`` may ask for a password or about an unknown host.
        shares: Whether it may go through a connection that is there already, where the person has
            set that up (``ControlMaster``).
    """
    # The folder of pipx and of pip's user installs, which a shell that is no login's may lack.
    script = f'PATH="$HOME/.local/bin:$PATH"; export PATH; exec {shlex.quote(program)} serve'
    options = (*_OPTIONS, *(() if shares else _OF_ITS_OWN), *(() if asks else _ASKS_NOTHING))
    return ("ssh", *options, "--", host, shlex.join(("sh", "-ec", script)))


def ssh_words(*, shares: bool) -> str:
    """The same ``ssh`` for another program that takes it as words of one text."""
    return shlex.join(("ssh", *_OPTIONS, *(() if shares else _OF_ITS_OWN)))


def shared_connection_command(host: str) -> tuple[str, ...]:
    """What exits with 0 where there is a connection that ``ssh`` would go through."""
    return ("ssh", "-O", "check", "--", host)


def is_for_a_person(exit_code: int | None, said: str) -> bool:
    """Whether a failure is none that passes by itself: somebody has to do something."""
    return exit_code in _NOT_FOUND or (
        exit_code == _FAILED and any(each in said for each in _REFUSED)
    )


def ended_problem(host: str, program: str, exit_code: int | None, said: str) -> Problem:
    """Why there is no process on the host, or none any more.

    Args:
        host: Which.
        program: What was to be started there.
        exit_code: Of ``ssh``; ``None``: it was not started.
        said: What it wrote to stderr.
    """
    last = visible_line((last_lines(said).splitlines() or [""])[-1])
    if exit_code in _NOT_FOUND:
        return Problem(
            code="host_without_gpupanel",
            message=f"{host} was reached, but its shell does not find {program}.",
            hint="Install gpupanel there (pipx install gpupanel), or name its command: "
            f"gpupanel --host {host} --there /path/to/gpupanel.",
            detail=said,
        )
    if exit_code == _FAILED:
        why = f": {last}" if last else ""
        return Problem(
            code="host_not_reached",
            message=f"ssh does not reach {host}{why}",
            hint=f"Try `ssh {host}` in a terminal: what it asks there it cannot ask here.",
            detail=said,
        )
    return Problem(
        code="host_process_ended",
        message=f"gpupanel on {host} has ended unexpectedly{f': {last}' if last else '.'}",
        hint="Runs there are not affected. It is started again.",
        detail=said,
    )
