"""Starts Python programs in processes that have imported TensorFlow already.

:class:`ForkedProcess` and :func:`run_forked` are what :class:`subprocess.Popen` and
:func:`subprocess.run` are, for a command ``[sys.executable, ...]``. The processes are forked by one
server, which is started with the first of them.
"""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

import psutil

from gpupanel.domain.inherited_variables import INHERITED_VARIABLES, is_cleared
from gpupanel.domain.process_environment import PLANNED_VARIABLES, SUPERVISOR_PID_VARIABLE

IMPORTED = (
    "tensorflow",
    "keras",
    "gpupanel.trainer.process",
    "gpupanel.trainer.training",
    "gpupanel.trainer.inference.infer",
    "gpupanel.trainer.strategies.parameter_server",
)
"""Modules that every process has from its beginning."""

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_QUIET = (None, "2", "3")

XLA_FLAGS = "XLA_FLAGS"
QUICKLY_COMPILED = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false"
)
"""XLA takes the same programs and compiles them in a third of the time, to slower code.

Ten seconds become four where a training has a normalisation, two replicas and a remainder. A
forked process compiles so unless it is given flags, or none; a TensorFlow that does not know one of
these ends the process that compiles, and says which.
"""

_READ_AT_IMPORT = (
    *{each.beginning for each in INHERITED_VARIABLES if each.is_read_at_import},
    *("LC_", "LANG", "TMP", "TEMP", "GFORTRAN_", "ABSL_", "GCS_", "LLVM_", "SCIPY_", "SKLEARN_"),
    *("JOBLIB_", "LOKY_", "PILLOW_", "PYDANTIC_", "PSUTIL_", "WRAPT_", "OPENSSL_", "ACC_"),
    *("TEST_", "ENABLE_", "DISABLE_"),
)
"""How the names of variables begin that Python or a library reads but once, when it is loaded:
every one that was asked for, in Python or by ``getenv``, while :data:`IMPORTED` was imported."""

_NOT_COMPARED = {
    *(_LOG_LEVEL, XLA_FLAGS, "KERAS_HOME", "KERAS_BACKEND", "TF_CONFIG", "PYTHONUNBUFFERED"),
    *PLANNED_VARIABLES,
}
"""The log's level is compared apart. The trainer itself chooses Keras's backend, a forked process
gets its own folder of data sets, and no test has a ``keras.json`` of its own. A cluster is read
when a strategy is made. What is printed unbuffered is so from the fork on. XLA reads its flags when
it first compiles, and TensorFlow what a plan says of devices when it makes them."""

_NUMBER = struct.Struct("i")

Stream = int | IO[Any] | None


class ForkServer:
    """A process that has imported modules and forks others.

    Args:
        modules: What it imports.
        variables: Which it has besides those of this process.
    """

    def __init__(
        self, modules: Sequence[str] = IMPORTED, variables: Mapping[str, str] | None = None
    ) -> None:
        own = {_LOG_LEVEL: "2", "KERAS_BACKEND": "tensorflow"}
        self.environment = {**os.environ, **own, **(variables or {})}
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            descriptor = theirs.fileno()
            program = str(Path(__file__).with_name("server.py"))
            self._process = subprocess.Popen(
                [sys.executable, "-P", program, str(descriptor), *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=self.environment,
                pass_fds=[descriptor],
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it, and whatever it forked that still runs."""
        self._requests.close()
        self._process.wait()

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        directory: str,
        streams: Sequence[int],
        *,
        descriptors: Sequence[int] = (),
        process_group: int | None = None,
        umask: int = -1,
    ) -> tuple[int, int, socket.socket]:
        """Fork a process.

        Args:
            command: What follows Python.
            environment: All variables.
            directory: The working directory.
            streams: Descriptors of its input, output and errors.
            descriptors: What else it gets, under the same numbers.
            process_group: As :class:`subprocess.Popen` takes it; ``None``: the server's.
            umask: Negative: that of this process.

        Returns:
            Its id, a descriptor of it, and where its exit status will come.

        Raises:
            ValueError: It would need other variables than those that the modules were loaded with.
        """
        request = {
            "command": list(command),
            "environment": self._of_child(environment),
            "directory": directory,
            "descriptors": list(descriptors),
            "process_group": process_group,
            "umask": _own_umask() if umask < 0 else umask,
        }
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                given = [theirs.fileno(), *streams, *descriptors]
                socket.send_fds(self._requests, [json.dumps(request).encode()], given)
            answer, descriptors, _, _ = socket.recv_fds(ours, _NUMBER.size, 1)
        except ConnectionError:
            answer, descriptors = b"", []
        if not answer:
            ours.close()
            raise ChildProcessError("the server that forks processes has ended")
        return *_NUMBER.unpack(answer), *descriptors, ours

    def _of_child(self, environment: Mapping[str, str]) -> dict[str, str]:
        names = {
            name
            for name in {*environment, *self.environment} - _NOT_COMPARED
            if name.startswith(_READ_AT_IMPORT) and not is_cleared(name)
        }
        differing = {name for name in names if environment.get(name) != self.environment.get(name)}
        if environment.get(_LOG_LEVEL) not in (*_QUIET, self.environment[_LOG_LEVEL]):
            differing.add(_LOG_LEVEL)
        if differing:
            raise ValueError(
                f"{', '.join(sorted(differing))}: read when a library is loaded, so a process that "
                "is to have its own cannot be forked: start it with subprocess"
            )
        kept = {XLA_FLAGS: QUICKLY_COMPILED, **environment}
        # Whoever starts a forked process is not its parent.
        if kept.get(SUPERVISOR_PID_VARIABLE) == str(os.getpid()):
            kept[SUPERVISOR_PID_VARIABLE] = str(self.pid)
        return kept


_servers: dict[frozenset[tuple[str, str]], ForkServer] = {}
"""Those that were started and fork for several tests, by the variables that each was given."""


def fork_server(
    variables: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> ForkServer:
    """The server that forks for everybody; the first call starts it.

    Args:
        variables: One of its own for what is to have these besides the variables of this process.
        before: Modules that it imports before all others.
    """
    key = frozenset((variables or {}).items())
    if key not in _servers:
        _servers[key] = ForkServer((*before, *IMPORTED), variables)
    return _servers[key]


def fork_server_pids() -> set[int]:
    """The servers' processes, where there are some."""
    return {server.pid for server in _servers.values()}


def child_processes() -> list[psutil.Process]:
    """Those of this process, but for the servers, which are there for several tests."""
    shared = fork_server_pids()
    return [child for child in psutil.Process().children() if child.pid not in shared]


def end_fork_servers() -> None:
    """End them, where there are some."""
    while _servers:
        with _servers.popitem()[1]:
            pass


class ForkedProcess:
    """As :class:`subprocess.Popen`, without pipes.

    Args:
        command: ``[sys.executable, ...]``, with ``-P`` as the only option of Python's.
        stdin: A file, a descriptor, ``DEVNULL``, or this process's own.
        stdout: As ``stdin``.
        stderr: As ``stdin``, or ``STDOUT``.
        env: All variables; left out, those of this process.
        cwd: The working directory; left out, that of this process.
        pass_fds: Descriptors that it gets under the same numbers.
        process_group: The group that it joins; 0: one of its own.
        umask: Negative: that of this process.
        server: Who forks it; left out, the one that has TensorFlow.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        pass_fds: Sequence[int] = (),
        process_group: int | None = None,
        umask: int = -1,
        server: ForkServer | None = None,
    ) -> None:
        self.args = [os.fspath(argument) for argument in command]
        python, *rest = self.args
        if python != sys.executable:
            raise ValueError(f"only this Python can be forked, not {python}")
        self.returncode: int | None = None
        with ExitStack() as opened:
            streams = [
                _descriptor(stream, number, opened)
                for number, stream in enumerate((stdin, stdout, stderr))
            ]
            if stderr == subprocess.STDOUT:
                streams[2] = streams[1]
            self.pid, self._descriptor, self._answers = (server or fork_server()).start(
                rest,
                os.environ if env is None else env,
                str(Path.cwd() if cwd is None else Path(cwd).absolute()),
                streams,
                descriptors=pass_fds,
                process_group=process_group,
                umask=umask,
            )

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; ``None`` while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit status.

        Raises:
            subprocess.TimeoutExpired: It still runs after so many seconds.
        """
        if self.returncode is None:
            end = select.poll()
            end.register(self._answers, select.POLLIN)
            if not end.poll(None if timeout is None else timeout * 1000.0):
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
            status = self._answers.recv(_NUMBER.size)
            self._answers.close()
            os.close(self._descriptor)
            if not status:
                self.returncode = -signal.SIGKILL
                raise ChildProcessError("the server that forked the process has ended")
            (self.returncode,) = _NUMBER.unpack(status)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_forked(
    command: Sequence[str | os.PathLike[str]],
    *,
    input: str | bytes | None = None,  # noqa: A002 - subprocess's name
    capture_output: bool = False,
    text: bool = False,
    stdout: Stream = None,
    stderr: Stream = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    check: bool = False,
    server: ForkServer | None = None,
) -> subprocess.CompletedProcess[Any]:
    """As :func:`subprocess.run`; what is captured goes through files."""
    with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as errors:
        given.write(input.encode() if isinstance(input, str) else input or b"")
        given.seek(0)
        takes = (
            capture_output or stdout == subprocess.PIPE,
            capture_output or stderr == subprocess.PIPE,
        )
        process = ForkedProcess(
            command,
            stdin=None if input is None else given,
            stdout=output if takes[0] else stdout,
            stderr=errors if takes[1] else stderr,
            env=env,
            cwd=cwd,
            server=server,
        )
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        captured = [
            _content(file, text=text) if taken else None
            for file, taken in zip((output, errors), takes, strict=True)
        ]
    done = subprocess.CompletedProcess(command, status, *captured)
    if check:
        done.check_returncode()
    return done


def _own_umask() -> int:
    status = Path("/proc/self/status").read_text()  # os.umask changes it to ask
    (line,) = (line for line in status.splitlines() if line.startswith("Umask:"))
    return int(line.split()[1], 8)


def _content(file: IO[bytes], *, text: bool) -> str | bytes:
    file.seek(0)
    content = file.read()
    return content.decode() if text else content


def _descriptor(stream: Stream, own: int, opened: ExitStack) -> int:
    if stream is None or stream == subprocess.STDOUT:
        return own
    if stream == subprocess.DEVNULL:
        return opened.enter_context(Path(os.devnull).open("r+b", buffering=0)).fileno()
    if stream == subprocess.PIPE:
        raise ValueError("a forked process has no pipes: give it files")
    return stream if isinstance(stream, int) else stream.fileno()
