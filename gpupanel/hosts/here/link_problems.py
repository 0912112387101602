"""Why there is no connection to a host, or nothing that can be understood."""

from importlib.metadata import version
from typing import Final

from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_line
from gpupanel.hosts.lines import Hello

_LONGEST_NAME: Final = 200


def odd(error: Exception) -> Problem:
    """What came is not what a host says."""
    return Problem(
        code="host_not_understood",
        message="What the host said is not what gpupanel says: the connection was ended.",
        hint="Install the same version on both machines: gpupanel --version says which one it is.",
        detail=str(error)[:2_000],
    )


def odd_file(name: str) -> Problem:
    """A file came that is none of those that may come."""
    return Problem(
        code="host_not_understood",
        message="The host sent a file of a name that is not expected: it was not written.",
        hint="Install the same version on both machines: gpupanel --version says which one it is.",
        detail=visible_line(name)[:_LONGEST_NAME],
    )


def too_large(name: str, most_bytes: int) -> Problem:
    """What is copied of a run or a sweep is more than a copy may be."""
    return Problem(
        code="host_run_too_large",
        message=f"The files of {name} take more than {most_bytes // 2**20:,} MiB over the "
        "connection.",
        hint="Look at it on the host itself.",
    )


def silent(host: str) -> Problem:
    """Somebody answers there, and not gpupanel."""
    return Problem(
        code="host_silent",
        message=f"{host} was reached, and gpupanel there does not answer.",
        hint=f"Try `ssh {host} gpupanel --version` in a terminal.",
    )


def another_version(host: str, hello: Hello) -> Problem:
    """The gpupanel there speaks otherwise."""
    here = version("gpupanel")
    return Problem(
        code="host_another_version",
        message=f"gpupanel on {host} is of version {hello.version}, and {here} here: they do not "
        "understand each other.",
        hint="Install the same version on both machines (pipx install --force gpupanel==VERSION).",
    )


def not_started(error: OSError) -> Problem:
    """There is no ``ssh`` that could be started."""
    return Problem(
        code="ssh_not_started",
        message=f"ssh cannot be started: {error.strerror or error}.",
        hint="Install it: sudo apt install openssh-client.",
    )


def lost(host: str) -> Problem:
    """Why something was not done, or is not known to be done."""
    return Problem(
        code="host_connection_lost",
        message=f"There is no connection to {host}.",
        hint="Whether what was ordered has been done is seen once it is there again; runs go on "
        "meanwhile.",
    )
