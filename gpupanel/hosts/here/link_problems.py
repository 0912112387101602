"""Why there is no connection to a host, or nothing that can be understood."""

from importlib.metadata import version

from gpupanel.domain.problem import Problem
from gpupanel.hosts.lines import Hello


def odd(error: Exception) -> Problem:
    """What came is not what a host says."""
    return Problem(
        code="host_not_understood",
        message="What the host said is not what gpupanel says: the connection was ended.",
        hint="Install the same version on both machines: gpupanel --version says which one it is.",
        detail=str(error)[:2_000],
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
