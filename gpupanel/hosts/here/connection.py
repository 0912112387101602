"""One process of ``ssh``: lines to a host and from it, until either of them is gone."""

import os
import subprocess
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import Final

from gpupanel.devices.child_process import last_bytes, memory_file
from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.hosts.lines import (
    GONE_S,
    KEEP_ALIVE_S,
    FromHost,
    FromWindow,
    Hello,
    KeepAlive,
    LineReader,
    LinesError,
    encoded,
    from_host,
)

_MOST_BEFORE_HELLO: Final = 1_000
"""Lines that a shell's start-up files print."""
_LOOK_S: Final = 0.5


class SilentError(Exception):
    """The process of ``ssh`` is there, and nothing has come through it for too long.

    Only ``ssh`` sees a connection that is gone without an end, and one that shares the connection
    of another process (``ControlMaster``) does not even look.
    """


class Connection:
    """What is said to a host and heard of it.

    Args:
        command: Of ``ssh``.

    Attributes:
        exit_code: Of ``ssh``, once closed.
        said: What ``ssh`` wrote to stderr, once closed.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        self.exit_code: int | None = None
        self.said = ""
        self._log = memory_file()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=child_environment(os.environ),
                cwd=WORKING_DIRECTORY,
                start_new_session=True,
            )
        except OSError:
            self._log.close()
            raise
        assert self._process.stdout is not None
        self._output = self._process.stdout
        self._reader = LineReader(self._output.fileno())
        self._begun_s = self._kept_alive_s = self._unanswered_s = time.monotonic()
        # A thread of its own writes: nobody is to wait for a host that does not read, since a host
        # that waits until it is read would then never be.
        self._unsaid: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="to a host", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """End it, and keep what ``ssh`` said of its end."""
        self.end(1.0)
        self._process.wait()
        self._writer.join()
        self._output.close()
        self.exit_code = self._process.returncode
        self.said = last_bytes(self._log).decode(errors="replace")
        self._log.close()

    @property
    def age_s(self) -> float:
        """Since when it is there."""
        return time.monotonic() - self._begun_s

    def say(self, line: FromWindow) -> None:
        """Tell the host, from any thread; what does not reach it is lost with the connection."""
        self._unsaid.put(encoded(line))

    def hello(self, limit_s: float) -> Hello:
        """The first line of the host.

        Raises:
            EOFError: ``ssh`` has ended.
            SilentError: None has come in that time.
            LinesError: A line is too long.
        """
        until_s = time.monotonic() + limit_s
        for _ in range(_MOST_BEFORE_HELLO):
            line = self._read(until_s - time.monotonic())
            if line is None:
                break
            with suppress(LinesError):  # a shell's start-up files print what they like
                said = from_host(line)
                if isinstance(said, Hello):
                    self._reader.decompress()
                    return said
        raise SilentError

    def hear(self) -> FromHost | None:
        """What the host says next; ``None``: nothing for some seconds.

        Raises:
            EOFError: ``ssh`` has ended.
            SilentError: The host has not even answered that it is still there.
            LinesError: A line is too long, or none of a host.
        """
        line = self._read(KEEP_ALIVE_S)
        now_s = time.monotonic()
        if now_s - self._kept_alive_s >= KEEP_ALIVE_S:
            if self._reader.read_s > self._kept_alive_s:
                self._unanswered_s = now_s
            self._kept_alive_s = now_s
            self.say(KeepAlive())
        if line is not None:
            return from_host(line)
        if self._reader.read_s < self._unanswered_s < now_s - GONE_S:
            raise SilentError
        return None

    def end(self, limit_s: float) -> None:
        """Let it end within that time, from any thread; it is killed otherwise."""
        self._unsaid.put(None)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(limit_s)
        self._process.kill()

    def _read(self, limit_s: float) -> bytes | None:
        until_s = time.monotonic() + limit_s
        while True:
            left_s = until_s - time.monotonic()
            line = self._reader.read(max(0.0, min(left_s, _LOOK_S)))
            if line is not None or left_s <= _LOOK_S:
                return line
            # The process whose connection is shared holds the pipe, too: it may have no end.
            if self._process.poll() is not None:
                raise EOFError

    def _write(self) -> None:
        assert self._process.stdin is not None
        # What could not be written is lost with the connection, whose end is heard by itself.
        with suppress(OSError, ValueError):
            while (content := self._unsaid.get()) is not None:
                self._process.stdin.write(content)
                self._process.stdin.flush()
        with suppress(OSError):
            self._process.stdin.close()
