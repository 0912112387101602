"""Forks processes that have imported TensorFlow already.

``python -P server.py DESCRIPTOR MODULE...`` imports the modules, then takes requests from the
socket at that descriptor until its other end is closed. For each request a process is forked that
runs a script, ``-m module`` or ``-c code`` as Python does. A request brings a socket, over which
the process's id and a descriptor of it (``pidfd_open(2)``) are answered, and, when it has ended,
its exit status.

The server itself uses nothing of what it imports: it makes no device and has no thread of Python's.
"""

import atexit
import fcntl
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gpupanel.trainer.quick_import import quick_import

_LONGEST = 2**20
"""Bytes of a request."""

_MOST_DESCRIPTORS = 16

_ASIDE = 512
"""Descriptors from here on are nobody's."""

_NUMBER = struct.Struct("i")


@dataclass(frozen=True)
class Request:
    """What a process is to be, besides what every one has."""

    command: list[str]
    environment: dict[str, str]
    directory: str
    streams: tuple[int, int, int]
    descriptors: dict[int, int]
    """The number that each has where it was asked for, and its own here."""
    process_group: int | None
    umask: int


@dataclass(frozen=True)
class Child:
    """A process that was forked, and where its end is reported."""

    pid: int
    answers: socket.socket

    def report_end(self) -> None:
        _, status = os.waitpid(self.pid, 0)
        with suppress(OSError), self.answers:  # nobody has to wait for it
            self.answers.send(_NUMBER.pack(os.waitstatus_to_exitcode(status)))


class Server:
    """Takes requests, and reaps what it forked."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._children: dict[int, Child] = {}

    def serve(self) -> Request | None:
        """Gives ``None`` when no request can come any more, and the request in a forked process."""
        while True:
            ready = select.poll()
            for descriptor in (self._requests.fileno(), *self._children):
                ready.register(descriptor, select.POLLIN)
            for descriptor, _ in ready.poll():
                if descriptor in self._children:
                    self._children.pop(descriptor).report_end()
                    os.close(descriptor)
                    continue
                received = self._receive()
                if received is None:
                    self._end()
                    return None
                if self._fork(*received) == 0:
                    return received[0]

    def _receive(self) -> tuple[Request, socket.socket] | None:
        message, received, _, _ = socket.recv_fds(
            self._requests, _LONGEST, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            return None
        answers, *streams = received[:4]
        asked = json.loads(message)
        descriptors = dict(zip(asked.pop("descriptors"), received[4:], strict=True))
        request = Request(**asked, streams=tuple(streams), descriptors=descriptors)
        return request, socket.socket(fileno=answers)

    def _fork(self, request: Request, answers: socket.socket) -> int:
        with warnings.catch_warnings():
            # Of Python 3.12: OpenBLAS's threads look after themselves when their process forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            for descriptor, child in self._children.items():
                os.close(descriptor)
                child.answers.close()
            self._requests.close()
            answers.close()
            return pid
        for stream in (*request.streams, *request.descriptors.values()):
            os.close(stream)
        if request.process_group is not None:
            with suppress(OSError):  # it has done so itself, and may have ended
                os.setpgid(pid, request.process_group)
        descriptor = os.pidfd_open(pid)
        self._children[descriptor] = Child(pid, answers)
        with suppress(OSError):  # whoever asked is gone
            socket.send_fds(answers, [_NUMBER.pack(pid)], [descriptor])
        return pid

    def _end(self) -> None:
        for child in self._children.values():
            os.kill(child.pid, signal.SIGKILL)
            child.report_end()


def become(request: Request, on_interrupt: Any) -> None:
    """Take over what a process gets from the one that starts it."""
    if request.process_group is not None:
        os.setpgid(0, request.process_group)
    os.umask(request.umask)
    # One may have the number that another is to get: they go out of the way first.
    given = {**dict(enumerate(request.streams)), **request.descriptors}
    aside = {number: fcntl.fcntl(own, fcntl.F_DUPFD, _ASIDE) for number, own in given.items()}
    for own in given.values():
        os.close(own)
    for number, descriptor in aside.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request.directory)
    os.environ.clear()
    os.environ.update(request.environment)
    signal.signal(signal.SIGINT, on_interrupt)
    at_once = bool(request.environment.get("PYTHONUNBUFFERED"))
    sys.stdout.reconfigure(line_buffering=at_once or os.isatty(1), write_through=at_once)
    # Python's own numbers are drawn anew in each forked process, NumPy's are not.
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(random.SystemRandom().getrandbits(32))
    # Keras has read where its data sets are when it was imported.
    if "keras" in sys.modules and "KERAS_HOME" in request.environment:
        configuration = sys.modules["keras.src.backend.config"]
        assert hasattr(configuration, "_KERAS_DIR")
        configuration._KERAS_DIR = request.environment["KERAS_HOME"]


def run(command: list[str]) -> None:
    """Run what follows Python in a command, as ``__main__``."""
    sys.orig_argv = [sys.executable, *command]
    searches = command[0] != "-P"
    kind, *sys.argv = command if searches else command[1:]
    if kind == "-m":
        module, sys.argv[0] = sys.argv[0], kind
        first = str(Path.cwd())
    elif kind == "-c":
        code, sys.argv[0] = sys.argv[0], kind
        first = ""
    else:
        sys.argv.insert(0, kind)
        first = str(Path(kind).resolve().parent)
    if searches:
        sys.path.insert(0, first)
    if kind == "-m":
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    elif kind == "-c":
        execute(code, "<string>", {})
    else:
        file = str(Path(kind).absolute())
        execute(Path(file).read_bytes(), file, {"__file__": file})


def status_of(command: list[str]) -> int:
    """Run a command to its end; whatever else ends a program is left to Python."""
    try:
        run(command)
    except SystemExit as ending:
        if not isinstance(ending.code, int | None):
            raise
        return ending.code or 0
    return 0


def end(status: int) -> None:
    """End as Python does, without clearing away what was imported.

    That takes 0.2 s, most of it for copying the pages that hold it, which this process shares with
    the server until it writes to them.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            if not stream.closed:
                stream.flush()
        except OSError:
            status = 120
            sys.excepthook(*sys.exc_info())
    os._exit(status)


def execute(code: str | bytes, place: str, names: dict[str, str]) -> None:
    """Carry out code in a ``__main__`` of its own."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update(names)
    exec(compile(code, place, "exec"), main.__dict__)


def main() -> None:
    # Ctrl+C is for whoever asks, and for the forked processes, who are in the same group.
    on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=int(sys.argv[1]))
    requests.set_inheritable(False)
    with quick_import():  # as a trainer; what it leaves is frozen, or each forked process copies it
        for name in sys.argv[2:]:
            importlib.import_module(name)
    gc.set_threshold(100_000, 20, 20)
    request = Server(requests).serve()
    if request is None:
        os._exit(0)
    become(request, on_interrupt)
    status = status_of(request.command)
    end(status)


main()
