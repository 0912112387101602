"""A child that answers one question on its stdout, within a time limit."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from threading import Event
from typing import IO, Final

from gpupanel.domain.child_command import child_environment

_POLL_S: Final = 0.1
_END_LIMIT_S: Final = 3.0


class ChildEnd(Enum):
    """How a child came to its end."""

    BY_ITSELF = auto()
    TIME_WAS_UP = auto()
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class ChildAnswer:
    """What a child left.

    Attributes:
        output: What it wrote to stdout; empty unless it ended by itself.
        exit_code: The negative number of the signal that ended it; ``None`` unless it ended by
            itself.
        log: All that it wrote to stderr.
    """

    end: ChildEnd
    output: bytes = b""
    exit_code: int | None = None
    log: str = ""


def ask_child(
    command: Sequence[str],
    time_limit_s: float,
    cancelled: Event | None = None,
    environment: Mapping[str, str] | None = None,
) -> ChildAnswer:
    """Start a child and wait for its answer.

    When the time is up, or nobody wants the answer any more, the child and whatever it started
    are killed.

    Args:
        command: What to start.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        environment: Variables that it gets besides those of this process.

    Raises:
        OSError: It cannot be started.
    """
    with tempfile.TemporaryFile() as log:
        # A group of its own, so that all of it can be killed; what it prints goes to a file, so
        # that it never waits for somebody to read it.
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(os.environ, environment),
            start_new_session=True,
        )
        try:
            end, output = _wait(child, time_limit_s, cancelled)
        finally:
            if child.returncode is None:
                _kill(child)
        exit_code = child.returncode if end is ChildEnd.BY_ITSELF else None
        return ChildAnswer(end, output, exit_code, _text(log))


def _wait(
    child: "subprocess.Popen[bytes]", time_limit_s: float, cancelled: Event | None
) -> tuple[ChildEnd, bytes]:
    deadline = time.monotonic() + time_limit_s
    while True:
        try:
            output, _ = child.communicate(timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            if cancelled is not None and cancelled.is_set():
                return ChildEnd.CANCELLED, b""
            if time.monotonic() >= deadline:
                return ChildEnd.TIME_WAS_UP, b""
        else:
            return ChildEnd.BY_ITSELF, output


def _kill(child: "subprocess.Popen[bytes]") -> None:
    """Kill the child's group, and collect it if the kernel lets it go.

    A process that waits inside a driver for its hardware cannot be killed before that answers.
    """
    os.killpg(child.pid, signal.SIGKILL)
    try:
        child.communicate(timeout=_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        if child.stdout is not None:
            child.stdout.close()


def _text(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")
