"""``gpupanel serve``: answers one window elsewhere, by lines of its standard input and output.

It opens no port and stays no longer than its window: it ends with its input, and where the window
says nothing for a minute. Runs are not its children; they go on without it.
"""

import os
import sys
import time
from importlib.metadata import version
from threading import Event, Lock, Thread
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from gpupanel.domain.problem import Problem
from gpupanel.hosts.lines import (
    GONE_S,
    PROTOCOL,
    Answer,
    AnswerPart,
    AnswerRefused,
    Call,
    Dropped,
    FromHost,
    Hello,
    KeepAlive,
    LineCompressor,
    LineReader,
    LinesError,
    as_json,
    encoded,
    from_window,
)
from gpupanel.hosts.operations.operation import Operation
from gpupanel.hosts.there.served import SERVED, Work
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.locations import default_runs_dir

_MOST_CALLS: Final = 64
"""At once: a window has a few dozen at the most."""
_END_S: Final = 5.0


class _GoneError(Exception):
    """The window does not read any more."""


class Server:
    """Carries out what is called, each in a thread of its own, until the window goes.

    Args:
        read_from: Descriptor of what the window says.
        write_to: Descriptor of what it is told.
    """

    def __init__(self, read_from: int, write_to: int) -> None:
        self._lines = LineReader(read_from)
        self._write_to = write_to
        self._writing = Lock()
        self._compressor: LineCompressor | None = None
        self._served = {operation.name: (operation, work) for operation, work in SERVED}
        self._dropped: dict[int, Event] = {}
        self._threads: list[Thread] = []

    def serve(self) -> None:
        """Say hello, then answer until the input ends or is silent for too long."""
        runs_dir = str(default_runs_dir())
        try:
            self._say(Hello(version("gpupanel"), PROTOCOL, runs_dir, time.time()))
            self._compressor = LineCompressor()
            while (line := self._lines.read(GONE_S)) is not None:
                self._take(line)
        except (EOFError, LinesError, _GoneError):
            pass  # the window has gone, or is none
        finally:
            self._end()

    def _take(self, line: bytes) -> None:
        said = from_window(line)
        if isinstance(said, Dropped):
            dropped = self._dropped.get(said.number)
            if dropped is not None:
                dropped.set()
        elif isinstance(said, Call):
            self._begin(said)
        else:
            self._say(KeepAlive())

    def _begin(self, call: Call) -> None:
        self._threads = [each for each in self._threads if each.is_alive()]
        found = self._served.get(call.operation)
        if found is None or len(self._threads) >= _MOST_CALLS:
            self._refuse(call.number, (_not_served(call.operation),))
            return
        dropped = self._dropped[call.number] = Event()
        thread = Thread(
            target=self._carry_out,
            args=(call, *found, dropped),
            name=call.operation,
            daemon=True,
        )
        self._threads.append(thread)
        thread.start()

    def _carry_out(
        self, call: Call, operation: Operation[Any, Any, Any], work: Work, dropped: Event
    ) -> None:
        def say(part: Any) -> None:  # noqa: ANN401 - a value of the operation's kind
            self._say(AnswerPart(call.number, as_json(part)))

        try:
            request = operation.request.model_validate_json(bytes(call.request))
            answer = work(request, say, dropped)
            self._say(Answer(call.number, as_json(answer)))
        except _GoneError:
            return
        except ValidationError as error:
            self._refuse(call.number, (_not_understood(operation.name, error),))
        except Exception as error:  # noqa: BLE001 - whichever it is, the window has to hear it
            self._refuse(call.number, problems_of(error))
        finally:
            self._dropped.pop(call.number, None)

    def _refuse(self, number: int, problems: tuple[Problem, ...]) -> None:
        content = msgspec.Raw(b"[" + b",".join(bytes(as_json(each)) for each in problems) + b"]")
        try:
            self._say(AnswerRefused(number, content))
        except _GoneError:
            return

    def _say(self, line: FromHost) -> None:
        content = encoded(line)
        with self._writing:
            if self._compressor is not None:
                content = self._compressor.compressed(content)
            waiting = memoryview(content)
            while waiting:
                try:
                    waiting = waiting[os.write(self._write_to, waiting) :]
                except OSError as error:
                    raise _GoneError from error

    def _end(self) -> None:
        for dropped in tuple(self._dropped.values()):
            dropped.set()
        until_s = time.monotonic() + _END_S
        for thread in self._threads:
            thread.join(max(0.0, until_s - time.monotonic()))


def serve() -> None:
    """Answer the window at the other end of this process's standard input and output."""
    # What a library prints must not stand among the lines.
    write_to = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Server(sys.stdin.fileno(), write_to).serve()
    # Threads that wait for a driver that never answers end with the process.
    os._exit(0)


def _not_served(name: str) -> Problem:
    return Problem(
        code="host_cannot",
        message=f"gpupanel on the host does not know {name[:64]}, or has too much to do.",
        hint="Install the same version on both machines: gpupanel --version says which one it is.",
    )


def _not_understood(name: str, error: ValidationError) -> Problem:
    return Problem(
        code="host_cannot",
        message=f"gpupanel on the host did not understand what was asked of it ({name}).",
        hint="Install the same version on both machines: gpupanel --version says which one it is.",
        detail=str(error),
    )
