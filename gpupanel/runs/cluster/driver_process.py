"""The driver of a cluster as its supervisor sees it: a process that reads and writes lines."""

import os
import subprocess
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from pydantic import ValidationError

from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import open_to_append
from gpupanel.runs.cluster.messages import DRIVER_MESSAGE, DriverMessage
from gpupanel.runs.cluster.reading import DRIVER

_END_S: Final = 20.0
_MOST_LINE_BYTES: Final = 2**26
"""A message has what all nodes report, and is never this long: a longer line is no message."""


class DriverProcess:
    """Starts the driver; :meth:`next_message` gives what it has written, one by one.

    Args:
        log: What it and Ray's library print is appended there; ``None``: it goes nowhere.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, log: Path | None) -> None:
        self._messages: deque[DriverMessage] = deque()
        output_to = os.open(os.devnull, os.O_WRONLY) if log is None else open_to_append(log)
        with os.fdopen(output_to, "ab") as output:
            self._process = subprocess.Popen(
                DRIVER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=child_environment(os.environ),
                cwd=WORKING_DIRECTORY,
                # Not with whatever a signal to the supervisor's group reaches.
                start_new_session=True,
            )
        self._thread = threading.Thread(target=self._read, name="driver", daemon=True)
        self._thread.start()

    @property
    def is_there(self) -> bool:
        """Whether it has not ended, or has written messages that nobody has read."""
        return self._process.poll() is None or self._thread.is_alive() or bool(self._messages)

    def send(self, command: Value) -> None:
        """Send it a command; a driver that has ended does nothing."""
        stream = self._stream(self._process.stdin)
        with suppress(OSError, ValueError):
            stream.write(command.model_dump_json().encode() + b"\n")
            stream.flush()

    def next_message(self) -> DriverMessage | None:
        """The next message that it has written; ``None``: there is none yet."""
        return self._messages.popleft() if self._messages else None

    def end(self, patience_s: float = _END_S) -> None:
        """Let it end by itself, as it does when its standard input is closed; then kill it."""
        with suppress(OSError):
            self._stream(self._process.stdin).close()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join(_END_S)
        with suppress(OSError):
            self._stream(self._process.stdout).close()

    def _read(self) -> None:
        output, is_whole = self._stream(self._process.stdout), True
        while piece := output.readline(_MOST_LINE_BYTES):
            begins, is_whole = is_whole, piece.endswith(b"\n")
            # Half a line, as of a driver that was killed while it wrote, is skipped.
            if begins and is_whole:
                with suppress(ValidationError):
                    self._messages.append(DRIVER_MESSAGE.validate_json(piece))

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        if stream is None:
            raise ValueError("the driver was started without pipes")
        return stream
