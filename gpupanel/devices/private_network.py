"""A network for the processes of one run, made and handed over as file descriptors."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.process_environment import NETWORK_READY, NETWORK_VARIABLE

MAKER: Final = python_module_command("gpupanel.trainer.private_network")
"""What makes it, started by name: it does what the run's processes do to enter it, too."""

_TIME_LIMIT_S: Final = 10.0
_PIPE: Final = subprocess.PIPE
_READY: Final = NETWORK_READY.encode()


class NetworkRefusedError(Exception):
    """This machine does not let this user make a network; the words say why."""


@dataclass(frozen=True, slots=True)
class PrivateNetwork:
    """A network of a run's own, there as long as it is open or a process is in it.

    Attributes:
        user: Descriptor of the user namespace that it belongs to.
        network: Descriptor of its network namespace.
    """

    user: int
    network: int

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What a process has to inherit that enters it."""
        return self.user, self.network

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process of the run enter it."""
        return {NETWORK_VARIABLE: f"{self.user},{self.network}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it go; processes that are in it keep it."""
        for descriptor in self.descriptors:
            os.close(descriptor)


def new_private_network(maker: Sequence[str] = MAKER) -> PrivateNetwork:
    """Make a network that has a loopback of its own and nothing else; takes a tenth of a second.

    A process of its own makes it: this one stays where it is, whatever threads it has.

    Raises:
        NetworkRefusedError: The kernel, or what guards it, does not permit one of the steps.
    """
    if sys.platform != "linux":
        raise NetworkRefusedError(f"{sys.platform} has no network namespaces")
    try:
        with subprocess.Popen(
            maker,
            stdin=_PIPE,
            stdout=_PIPE,
            stderr=_PIPE,
            env=child_environment(os.environ),
            cwd=WORKING_DIRECTORY,
        ) as process:
            return _opened_while_kept(process)
    except OSError as error:
        raise NetworkRefusedError(f"{error.strerror or error}") from error


def _opened_while_kept(process: "subprocess.Popen[bytes]") -> PrivateNetwork:
    too_late = threading.Timer(_TIME_LIMIT_S, process.kill)
    too_late.start()
    try:
        if process.stdout is not None and process.stdout.readline().strip() == _READY:
            return _opened(process.pid)
        log = process.communicate()[1].decode(errors="replace").strip()
    finally:
        too_late.cancel()
    raise NetworkRefusedError(log.splitlines()[-1] if log else "the process that tried it vanished")


def _opened(pid: int) -> PrivateNetwork:
    user = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return PrivateNetwork(user, os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        os.close(user)
        raise
