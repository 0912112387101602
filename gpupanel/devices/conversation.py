"""A child process that stays, and is asked one line after the other."""

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from threading import Event
from typing import IO, Final

from gpupanel.devices.child_process import (
    MOST_OUTPUT_BYTES,
    QUIET,
    ChildAnswer,
    ChildEnd,
    end_group,
    has_come_to_end,
    last_bytes,
    memory_file,
)
from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment

_POLL_S: Final = 0.05
_STEP_S: Final = 0.005
_PIECE_BYTES: Final = 2**16
_LAST_STEPS_S: Final = 1.0
"""How long a child that was told that nobody asks any more may take to end."""


class Conversation:
    """Starts the child at once; it ends by :meth:`end`, or when this process does.

    Args:
        command: What to start; it answers each line of its standard input by a line of its standard
            output, and ends with its input. Paths in it are absolute.
        environment: Variables that it gets besides those of this process.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._folder = TemporaryDirectory(prefix="gpupanel-")
        self._log = memory_file()
        self._rest = bytearray()
        # What it leaves in its own folder goes with it, however it ends.
        own = {"TMPDIR": self._folder.name}
        try:
            # A group of its own, so that all of it can be killed.
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=child_environment(os.environ, {**QUIET, **(environment or {}), **own}),
                cwd=WORKING_DIRECTORY,
                start_new_session=True,
            )
        except BaseException:
            self._clear_up()
            raise
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input: IO[bytes] = self._child.stdin
        self._output: IO[bytes] = self._child.stdout
        # A child that does not read must not keep its caller from seeing that its time is up.
        os.set_blocking(self._input.fileno(), False)

    @property
    def number(self) -> int:
        """Of the process, which is that of its group, too."""
        return self._child.pid

    def ask(
        self, question: bytes, time_limit_s: float, cancelled: Event | None = None
    ) -> bytes | ChildAnswer:
        """Ask, and wait for the answer.

        Args:
            question: Without an end of line.
            time_limit_s: How long the answer may take.
            cancelled: Set, by any thread, when it is not wanted any more.

        Returns:
            The answer without its end of line; or how the child ended, where it gave none: nobody
            can be asked any more then.
        """
        waiting = memoryview(question + b"\n")
        until_s = time.monotonic() + time_limit_s
        while b"\n" not in self._rest:
            if cancelled is not None and cancelled.is_set():
                return self._ended(ChildEnd.CANCELLED)
            if time.monotonic() >= until_s:
                return self._ended(ChildEnd.TIME_WAS_UP)
            too_much = max(len(self._rest), os.fstat(self._log.fileno()).st_size)
            if too_much > MOST_OUTPUT_BYTES:
                self._kill()
                return self._ended(ChildEnd.BY_ITSELF)
            asks = [self._input] if waiting else []
            readable, writable, _ = select.select([self._output], asks, [], _POLL_S)
            if writable:
                waiting = self._written(waiting)
            if readable:
                piece = os.read(self._output.fileno(), _PIECE_BYTES)
                if not piece:
                    return self._ended(ChildEnd.BY_ITSELF)
                self._rest += piece
        answer, _, rest = bytes(self._rest).partition(b"\n")
        self._rest = bytearray(rest)
        return answer

    def end(self) -> None:
        """Tell the child that nobody asks any more; what is left of it is killed."""
        with suppress(OSError):
            self._input.close()
        self._await_end()
        self._kill()
        self._output.close()
        self._clear_up()

    def _await_end(self) -> None:
        until_s = time.monotonic() + _LAST_STEPS_S
        while self._is_there() and time.monotonic() < until_s:
            time.sleep(_STEP_S)

    def _is_there(self) -> bool:
        return self._child.returncode is None and not has_come_to_end(self._child)

    def _kill(self) -> None:
        if self._child.returncode is None:  # else it was killed, and its group has gone with it
            end_group(self._child)

    def _written(self, waiting: memoryview) -> memoryview:
        try:
            return waiting[os.write(self._input.fileno(), waiting) :]
        except BlockingIOError:
            return waiting
        except BrokenPipeError:
            return waiting[:0]  # it has ended, which its output says

    def _ended(self, end: ChildEnd) -> ChildAnswer:
        if end is ChildEnd.BY_ITSELF:
            self._await_end()
        self._kill()
        exit_code = self._child.returncode if end is ChildEnd.BY_ITSELF else None
        log = last_bytes(self._log).decode(errors="replace")
        return ChildAnswer(end, exit_code=exit_code, log=log)

    def _clear_up(self) -> None:
        self._log.close()
        with suppress(OSError):
            self._folder.cleanup()
