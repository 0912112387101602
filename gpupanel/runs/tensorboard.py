"""TensorBoard for the runs of a window: started on loopback, ended with the window."""

import os
import re
import select
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from gpupanel.devices.packages import install
from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.runs.directory.disk_problems import disk_problem

TENSORBOARD_COMMAND: Final = python_module_command("gpupanel.runs.tensorboard_process")
"""Serves the folder that it is given until its standard input ends; prints its address."""
REQUIREMENT: Final = "tensorboard>=2.19"
START_LIMIT_S: Final = 60.0
MOST_AT_ONCE: Final = 4
"""Each holds some hundred MiB: the one that was opened first ends for a fifth."""
_MOST_FILES: Final = 10_000
_ADDRESS: Final = re.compile(rb"http://127\.0\.0\.1:[0-9]{1,5}/?")
_LONGEST_ADDRESS: Final = 256
_POLL_S: Final = 0.05
_END_LIMIT_S: Final = 3.0
_MOST_LOG_BYTES: Final = 2**16


@dataclass(frozen=True, slots=True)
class _Server:
    """A process, and where it serves."""

    process: "subprocess.Popen[bytes]"
    log: IO[bytes]
    address: str = ""

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Ends TensorBoard with all processes that it started."""
        with suppress(PermissionError, ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_LIMIT_S)
        for each in (self.process.stdin, self.process.stdout, self.log):
            if each is not None:
                each.close()


class TensorBoards:
    """Starts one for each run that is asked for; all end by :meth:`close`, or with this process.

    Args:
        command: Serves the folder that it is given as its last argument.
        start_limit_s: How long one may take to serve.
    """

    def __init__(
        self,
        command: Sequence[str] = TENSORBOARD_COMMAND,
        start_limit_s: float = START_LIMIT_S,
    ) -> None:
        self._command = tuple(command)
        self._start_limit_s = start_limit_s
        self._servers: dict[Path, _Server] = {}

    def address_of(self, layout: RunLayout, cancelled: threading.Event) -> str:
        """Where TensorBoard shows a run: that which serves it already, or a new one.

        Args:
            layout: The run.
            cancelled: Set, by any thread, when it is not wanted any more.

        Returns:
            A URL of this machine; empty where it was cancelled.

        Raises:
            ProblemError: It cannot be shown, and why.
        """
        folder = layout.tensorboard.absolute()
        known = self._servers.get(folder)
        if known is not None and known.is_alive:
            try:
                _check_files(layout)
            except ProblemError:
                self._forget(folder)  # what has come into the folder meanwhile is not served on
                raise
            return known.address
        self._forget(folder)
        if self._command == TENSORBOARD_COMMAND and find_spec("tensorboard") is None:
            raise ProblemError(_not_installed())
        _check_files(layout)
        server = self._started(folder, cancelled)
        if server is None:
            return ""
        while len(self._servers) >= MOST_AT_ONCE:
            self._forget(next(iter(self._servers)))
        self._servers[folder] = server
        return server.address

    def close(self) -> None:
        """End all of them."""
        for folder in list(self._servers):
            self._forget(folder)

    def _forget(self, folder: Path) -> None:
        server = self._servers.pop(folder, None)
        if server is not None:
            server.end()

    def _started(self, folder: Path, cancelled: threading.Event) -> _Server | None:
        log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        try:
            process = subprocess.Popen(
                (*self._command, str(folder.absolute())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=child_environment(os.environ, {"CUDA_VISIBLE_DEVICES": "-1"}),
                cwd=WORKING_DIRECTORY,
                start_new_session=True,
            )
        except OSError as error:
            log.close()
            raise ProblemError(_not_started(str(error))) from error
        server = _Server(process, log)
        try:
            address = self._address(server, cancelled)
        except BaseException:
            server.end()
            raise
        if not address:
            server.end()
            return None
        return _Server(process, log, address)

    def _address(self, server: _Server, cancelled: threading.Event) -> str:
        """What it prints once it serves; empty where it was cancelled."""
        output = server.process.stdout
        assert output is not None
        until_s, heard = time.monotonic() + self._start_limit_s, b""
        while not cancelled.is_set():
            ready, _, _ = select.select([output], [], [], _POLL_S)
            if ready:
                piece = os.read(output.fileno(), _LONGEST_ADDRESS)
                heard += piece
                if b"\n" in heard or not piece or len(heard) > _LONGEST_ADDRESS:
                    line = heard.partition(b"\n")[0].strip()
                    if _ADDRESS.fullmatch(line):
                        return line.decode()
                    raise ProblemError(_not_started(_end_of(server.log)))
            if time.monotonic() > until_s:
                raise ProblemError(_too_slow(self._start_limit_s, _end_of(server.log)))
        return ""


def _check_files(layout: RunLayout) -> None:
    """See to it that there is something to show, and that nothing in it leads elsewhere.

    TensorBoard follows links, waits for a FIFO, and shows what it finds to whoever can connect.

    Raises:
        ProblemError: There is nothing, or what is there cannot be used.
    """
    left, folders = _MOST_FILES, [layout.tensorboard]
    has_files = False
    try:
        if not stat.S_ISDIR(os.lstat(layout.tensorboard).st_mode):
            raise ProblemError(unsafe_file(str(layout.tensorboard), "not a folder"))
        while folders and left:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    elif entry.is_file(follow_symlinks=False):
                        has_files = True
                    else:
                        what = "a symbolic link" if entry.is_symlink() else "not a regular file"
                        raise ProblemError(unsafe_file(entry.path, what))
                    if not left:
                        break
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.tensorboard)) from error
    if not left:
        raise ProblemError(unsafe_file(str(layout.tensorboard), "a folder of too many files"))
    if not has_files:
        raise ProblemError(_nothing_to_show(layout))


def _end_of(log: IO[bytes]) -> str:
    size = os.fstat(log.fileno()).st_size
    content = os.pread(log.fileno(), _MOST_LOG_BYTES, max(0, size - _MOST_LOG_BYTES))
    return last_lines(content.decode(errors="replace"))


def _not_installed() -> Problem:
    return Problem(
        code="tensorboard_not_installed",
        message="TensorBoard is not installed: TensorFlow no longer includes it.",
        hint="Install it, then try again; gpupanel need not be restarted.",
        command=install(REQUIREMENT),
    )


def _nothing_to_show(layout: RunLayout) -> Problem:
    return Problem(
        code="tensorboard_without_files",
        field="training.tensorboard",
        message=f"{layout.name} has no TensorBoard files: it wrote none, or completed no epoch.",
        hint="Train with training.tensorboard = true; Live shows the same curves.",
    )


def _not_started(detail: str) -> Problem:
    return Problem(
        code="tensorboard_not_started",
        message="TensorBoard ended before it served the run.",
        hint="The detail has its own words; a newer version of it may help.",
        command=install(REQUIREMENT, upgrade=True),
        detail=detail,
    )


def _too_slow(limit_s: float, detail: str) -> Problem:
    return Problem(
        code="tensorboard_too_slow",
        message=f"TensorBoard did not serve the run within {limit_s:g} s, and was ended.",
        hint="The machine may be busy: try again later.",
        detail=detail,
    )
