"""The one way to ask a child process: question in, answer out, within a time limit."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from threading import Event
from typing import IO, Final

from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment

_SHORTEST_POLL_S: Final = 0.001
_LONGEST_POLL_S: Final = 0.05
_END_LIMIT_S: Final = 3.0
MOST_OUTPUT_BYTES: Final = 64 * 2**20
"""Of an answer, and of a log before only its end is kept: a child that goes mad and writes more is
killed before it fills the memory."""
_MOST_LOG_BYTES: Final = 2**20
_PIECE_BYTES: Final = 2**16
QUIET: Final = {"TF_CPP_MAX_VLOG_LEVEL": "0", "TF_CPP_VMODULE": ""}
"""A shell may ask TensorFlow for every one of its steps: that is for a run's log."""


class ChildEnd(Enum):
    """How a child came to its end."""

    BY_ITSELF = auto()
    TIME_WAS_UP = auto()
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class ChildAnswer:
    """What a child left.

    Attributes:
        output: What it wrote to stdout, the first 64 MiB; empty unless it ended by itself.
        exit_code: The negative number of the signal that ended it; ``None`` unless it ended by
            itself.
        log: What it wrote to stderr, the last MiB.
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
    question: bytes = b"",
    *,
    on_output: Callable[[bytes], None] | None = None,
    grace_s: float = 0.0,
) -> ChildAnswer:
    """Start a child and wait for its answer.

    When the time is up, or nobody wants the answer any more, the child is killed. Whatever it has
    started and left is killed in any case.

    Args:
        command: What to start; paths in it, and in the question, are absolute.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        environment: Variables that it gets besides those of this process.
        question: What it finds on stdin.
        on_output: Called with what it has written to stdout since the last time, while it works.
        grace_s: When the answer is not wanted any more, it is asked to end (SIGTERM) so long before
            it is killed: for one that has files to remove.

    Raises:
        OSError: It cannot be started.
    """
    # All by files, so that neither waits for the other to read. A group of its own, so that all of
    # it can be killed.
    with memory_file() as asked, memory_file() as output, memory_file() as log:
        asked.write(question)
        asked.seek(0)
        child = subprocess.Popen(
            command,
            stdin=asked,
            stdout=output,
            stderr=log,
            env=child_environment(os.environ, {**QUIET, **(environment or {})}),
            cwd=WORKING_DIRECTORY,
            start_new_session=True,
        )
        try:
            reader = _OutputReader(output, on_output)
            end = _wait(child, time_limit_s, cancelled, (output, log), reader)
            if end is ChildEnd.CANCELLED and grace_s:
                _signal_group(child, signal.SIGTERM)
                _wait(child, grace_s, None, (output, log), _OutputReader(output, None))
        finally:
            end_group(child)
        text = last_bytes(log).decode(errors="replace")
        if end is not ChildEnd.BY_ITSELF:
            return ChildAnswer(end, log=text)
        output.seek(0)
        return ChildAnswer(end, output.read(MOST_OUTPUT_BYTES), child.returncode, text)


class _OutputReader:
    """Hands on what a child writes, piece by piece."""

    def __init__(self, output: IO[bytes], on_output: Callable[[bytes], None] | None) -> None:
        self._descriptor, self._on_output, self._done = output.fileno(), on_output, 0

    def read_piece(self) -> bool:
        """Hand on one piece; whether there was one.

        No more at a time: a child that writes faster than it is read must not keep its caller
        from seeing that its time is up.
        """
        if self._on_output is None:
            return False
        # The child writes where the file's position is: it must not be moved.
        piece = os.pread(self._descriptor, _PIECE_BYTES, self._done)
        self._done += len(piece)
        if piece:
            self._on_output(piece)
        return bool(piece)


def _wait(
    child: "subprocess.Popen[bytes]",
    time_limit_s: float,
    cancelled: Event | None,
    written: Sequence[IO[bytes]],
    reader: _OutputReader,
) -> ChildEnd:
    deadline, pause_s = time.monotonic() + time_limit_s, _SHORTEST_POLL_S
    while True:
        has_ended = has_come_to_end(child)
        if reader.read_piece():
            pause_s = 0.0
        elif has_ended:
            return ChildEnd.BY_ITSELF
        if cancelled is not None and cancelled.is_set():
            return ChildEnd.CANCELLED
        if time.monotonic() >= deadline:
            return ChildEnd.TIME_WAS_UP
        if any(os.fstat(each.fileno()).st_size > MOST_OUTPUT_BYTES for each in written):
            _signal_group(child)
        time.sleep(pause_s)
        pause_s = min(max(2.0 * pause_s, _SHORTEST_POLL_S), _LONGEST_POLL_S)


def has_come_to_end(child: "subprocess.Popen[bytes]") -> bool:
    """Whether it has; it is not collected: its number stays that of its group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def end_group(child: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of the child's group, and collect it if the kernel lets it go.

    A process that waits inside a driver for its hardware cannot be killed before that answers.
    """
    _signal_group(child)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_END_LIMIT_S)


def _signal_group(
    child: "subprocess.Popen[bytes]", number: signal.Signals = signal.SIGKILL
) -> None:
    # One that became another user, as nvidia-modprobe becomes root, is not ours to kill, not even
    # when it has ended.
    with suppress(PermissionError):
        os.killpg(child.pid, number)


def memory_file() -> IO[bytes]:
    """What a child reads or writes, without a place on any disk: a full one must not cost it."""
    return os.fdopen(os.memfd_create("gpupanel-child"), "w+b")


def last_bytes(log: IO[bytes]) -> bytes:
    """The last MiB of what a child wrote into such a file."""
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - _MOST_LOG_BYTES))
    return log.read()
