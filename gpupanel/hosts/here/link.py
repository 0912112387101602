"""The connection to a host: kept up, made anew after a cut, and shared by all who ask there."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import IO, Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from gpupanel.devices.child_process import last_bytes, memory_file
from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.hosts.here.link_problems import another_version, lost, not_started, odd, silent
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.hosts.here.ssh import PROGRAM, ended_problem, is_for_a_person, ssh_command
from gpupanel.hosts.lines import (
    PROTOCOL,
    STILL_S,
    Answer,
    AnswerPart,
    AnswerRefused,
    Call,
    Dropped,
    FromHost,
    FromWindow,
    Hello,
    LineReader,
    LinesError,
    Still,
    as_json,
    encoded,
    from_host,
)
from gpupanel.hosts.operations.operation import Operation
from gpupanel.runs.error_problems import problems_of

_HELLO_S: Final = 120.0
"""Somebody may have to type a password."""
_MOST_BEFORE_HELLO: Final = 1_000
"""Lines that a shell's start-up files print."""
_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
_AGAIN_S: Final = 5.0
"""How long what was told and could not be taken, as with a full disk, is left before it is told
again."""
_LOOK_S: Final = 0.05
_CANCELLED_S: Final = 10.0
_PROBLEMS: Final = TypeAdapter(tuple[Problem, ...])
_RequestT = TypeVar("_RequestT", bound=Value)
_PartT = TypeVar("_PartT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)


@dataclass(slots=True)
class _Asked(Generic[_PartT, _AnswerT]):
    """A call whose answer is waited for."""

    operation: Operation[Any, _PartT, _AnswerT]
    on_part: Callable[[_PartT], object]
    done: Event = field(default_factory=Event)
    answer: _AnswerT | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Following(Generic[_RequestT, _PartT]):
    """An operation that is called again whenever the connection is there again."""

    operation: Operation[_RequestT, _PartT, Any]
    request: Callable[[], _RequestT]
    on_part: Callable[[_PartT], object]
    on_refused: Callable[[tuple[Problem, ...]], object]
    number: int = 0
    """Of the call that goes on; 0: none does."""
    again_s: float | None = None
    """When it is called again after what was told could not be taken, by the monotonic clock."""


class Link:
    """One process of ``ssh``, and the conversation with the host through it.

    Args:
        host: As the person names it.
        heard: Called with each :class:`LinkState`, in a thread of the link's own.
        program: The command of gpupanel there.
        make_command: What is started, by whether it may ask somebody; ``ssh`` when left out.
    """

    def __init__(
        self,
        host: str,
        heard: Callable[[LinkState], object],
        program: str = PROGRAM,
        make_command: Callable[[bool], tuple[str, ...]] | None = None,
    ) -> None:
        self.host, self._program, self._heard = host, program, heard
        self._make_command = make_command or (lambda asks: ssh_command(host, program, asks=asks))
        self.state = LinkState(LinkCondition.CONNECTING, time.time())
        self._lock = threading.RLock()
        self._input: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._asked: dict[int, _Asked[Any, Any]] = {}
        self._followed: list[Following[Any, Any]] = []
        self._is_ended = False
        self._again = Event()
        self._thread = threading.Thread(target=self._keep, name=f"link to {host}", daemon=True)

    def start(self) -> None:
        """Connect; :attr:`state` follows."""
        self._thread.start()

    def try_again(self) -> None:
        """Connect now, instead of after the next pause, or though somebody had to do something."""
        self._again.set()

    def end(self) -> None:
        """End the connection, and whatever waits for answers; runs on the host go on."""
        self._is_ended = True
        self._again.set()
        with self._lock:
            process = self._process
        if process is not None:
            self._close_input()
            with suppress(subprocess.TimeoutExpired):
                process.wait(2.0)
            process.kill()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def call(
        self,
        operation: Operation[_RequestT, _PartT, _AnswerT],
        request: _RequestT,
        *,
        on_part: Callable[[_PartT], object] | None = None,
        cancelled: Event | None = None,
    ) -> _AnswerT:
        """Ask, and wait for the answer, also for the first connection; never in a window's thread.

        Args:
            operation: What is asked.
            request: With what.
            on_part: Called with what comes before the answer, in a thread of the link's own.
            cancelled: Set, by any thread, when the answer is not wanted any more; the host then
                has some seconds to answer with less.

        Raises:
            ProblemError: What the host refuses; or the connection is not there, or was lost before
                it answered.
        """
        self._await_first(cancelled)
        asked = _Asked(operation, on_part or _ignore)
        number = self._send_call(operation, request, asked)
        while not asked.done.wait(_LOOK_S if cancelled else None):
            if cancelled is not None and cancelled.is_set():
                self._send(Dropped(number))
                asked.done.wait(_CANCELLED_S)
                break
        with self._lock:
            self._asked.pop(number, None)
        if asked.problems:
            raise ProblemError(*asked.problems)
        if asked.answer is None:
            raise ProblemError(lost(self.host))
        return asked.answer

    def follow(
        self,
        operation: Operation[_RequestT, _PartT, Any],
        request: Callable[[], _RequestT],
        on_part: Callable[[_PartT], object],
        on_refused: Callable[[tuple[Problem, ...]], object],
    ) -> Following[_RequestT, _PartT]:
        """Have an operation told for as long as it is wanted, over all connections.

        Args:
            operation: What is told.
            request: Made anew for each connection, with what is known by then.
            on_part: Called with each part, in a thread of the link's own.
            on_refused: Called with why nothing more of it is told by this connection.
        """
        following = Following(operation, request, on_part, on_refused)
        with self._lock:
            self._followed.append(following)
            if self.state.kind is LinkCondition.CONNECTED:
                self._begin(following)
        return following

    def unfollow(self, following: Following[Any, Any]) -> None:
        """Have it told no more."""
        with self._lock:
            if following in self._followed:
                self._followed.remove(following)
            number, following.number = following.number, 0
        if number:
            self._send(Dropped(number))

    # In the link's own thread.

    def _keep(self) -> None:
        cuts, may_ask = 0, True
        while not self._has_ended():
            was_connected, problem, waits_for_person = self._connect_once(may_ask=may_ask)
            if self._has_ended():
                break
            cuts = 0 if was_connected else cuts + 1
            was_ever = self.state.hello is not None
            is_refused = waits_for_person or not was_ever
            self._tell(LinkCondition.REFUSED if is_refused else LinkCondition.CUT, problem)
            pause_s = None if is_refused else _PAUSES_S[min(cuts, len(_PAUSES_S) - 1)]
            may_ask = self._again.wait(pause_s)
            self._again.clear()
        self._lose_all()

    def _has_ended(self) -> bool:
        return self._is_ended

    def _connect_once(self, *, may_ask: bool) -> tuple[bool, Problem, bool]:
        """Connect, and hear until the connection ends.

        Returns:
            Whether it was there at all, why it is not any more, and whether that is for a person
            to mend.
        """
        if self.state.kind is not LinkCondition.CUT:
            self._tell(LinkCondition.CONNECTING)
        with memory_file() as log:
            try:
                process = subprocess.Popen(
                    self._make_command(may_ask),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=child_environment(os.environ),
                    cwd=WORKING_DIRECTORY,
                    start_new_session=True,
                )
            except OSError as error:
                return False, not_started(error), True
            assert process.stdin is not None
            assert process.stdout is not None
            with self._lock:
                self._process, self._input = process, process.stdin
            wrong, is_there = None, False
            try:
                reader = LineReader(process.stdout.fileno())
                hello = self._hello(reader)
                is_there = True
                self._greet(hello)
                self._hear(reader)
            except EOFError:
                pass
            except (LinesError, ProblemError) as error:
                wrong = problems_of(error)[0] if isinstance(error, ProblemError) else odd(error)
            finally:
                with self._lock:
                    self._process = self._input = None
                with suppress(OSError):
                    process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1.0)
                process.kill()
                process.wait()
                process.stdout.close()
                self._lose_all()
            said = last_bytes(log).decode(errors="replace")
        code = process.returncode
        problem = wrong or ended_problem(self.host, self._program, code, said)
        return is_there, problem, wrong is not None or is_for_a_person(code, said)

    def _hello(self, reader: LineReader) -> Hello:
        until_s = time.monotonic() + _HELLO_S
        for _ in range(_MOST_BEFORE_HELLO):
            line = reader.read(max(0.0, until_s - time.monotonic()))
            if line is None:
                raise ProblemError(silent(self.host))
            try:
                said = from_host(line)
            except LinesError:
                continue  # a shell's start-up files print what they like
            if isinstance(said, Hello):
                if said.protocol != PROTOCOL:
                    raise ProblemError(another_version(self.host, said))
                return said
        raise ProblemError(silent(self.host))

    def _greet(self, hello: Hello) -> None:
        behind_s = time.time() - hello.time_s
        with self._lock:
            self.state = LinkState(LinkCondition.CONNECTED, time.time(), None, hello, behind_s)
            for following in self._followed:
                self._begin(following)
        self._heard(self.state)

    def _hear(self, reader: LineReader) -> None:
        still_s = time.monotonic()
        while True:
            line = reader.read(STILL_S)
            if time.monotonic() - still_s >= STILL_S:
                still_s = time.monotonic()
                self._send(Still())
            if line is not None:
                self._take(from_host(line))
            self._begin_again()

    def _begin_again(self) -> None:
        """Call anew what could not be taken a while ago."""
        with self._lock:
            for following in self._followed:
                again_s = following.again_s
                if again_s is not None and time.monotonic() >= again_s:
                    following.again_s = None
                    self._begin(following)

    def _take(self, said: FromHost) -> None:
        if isinstance(said, Hello):
            return
        with self._lock:
            asked = self._asked.get(said.number)
            following = next((each for each in self._followed if each.number == said.number), None)
        if asked is not None:
            self._take_for(asked, said)
        elif following is not None:
            self._take_followed(following, said)

    def _take_for(self, asked: _Asked[Any, Any], said: AnswerPart | Answer | AnswerRefused) -> None:
        try:
            if isinstance(said, AnswerPart):
                asked.on_part(asked.operation.part.model_validate_json(bytes(said.content)))
                return
            if isinstance(said, Answer):
                asked.answer = asked.operation.answer.model_validate_json(bytes(said.content))
            else:
                asked.problems = _PROBLEMS.validate_json(bytes(said.content)) or (lost(self.host),)
        except ValidationError as error:
            asked.problems = (odd(error),)
        except Exception as error:  # noqa: BLE001 - who asked has to hear it, and the link goes on
            asked.problems = problems_of(error)
        asked.done.set()

    def _take_followed(
        self, following: Following[Any, Any], said: AnswerPart | Answer | AnswerRefused
    ) -> None:
        try:
            if isinstance(said, AnswerPart):
                content = bytes(said.content)
                following.on_part(following.operation.part.model_validate_json(content))
                return
            following.number = 0
            if isinstance(said, AnswerRefused):
                following.on_refused(_PROBLEMS.validate_json(bytes(said.content)))
        except ValidationError as error:
            following.on_refused((odd(error),))
        except Exception as error:  # noqa: BLE001 - such as a full disk; the link goes on
            following.on_refused(problems_of(error))
            # What comes next would leave a gap: it is told again, from what is known by then.
            number, following.number = following.number, 0
            following.again_s = time.monotonic() + _AGAIN_S
            self._send(Dropped(number))

    def _tell(self, kind: LinkCondition, problem: Problem | None = None) -> None:
        before = self.state
        is_same = before.kind is kind
        since_s = before.since_s if is_same else time.time()
        with self._lock:
            self.state = LinkState(kind, since_s, problem, before.hello, before.behind_s)
        self._heard(self.state)

    def _lose_all(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, {}
            for following in self._followed:
                following.number = 0
        for each in asked.values():
            each.problems = (lost(self.host),)
            each.done.set()

    # In any thread.

    def _await_first(self, cancelled: Event | None) -> None:
        """While the connection is only just made there is nothing to refuse yet."""
        while self.state.kind is LinkCondition.CONNECTING and not self._is_ended:
            if (cancelled is not None and cancelled.is_set()) or not self._thread.is_alive():
                return
            time.sleep(_LOOK_S)

    def _send_call(
        self, operation: Operation[Any, Any, Any], request: Value, asked: _Asked[Any, Any] | None
    ) -> int:
        with self._lock:
            self._number += 1
            number = self._number
            if asked is not None:
                if self.state.kind is not LinkCondition.CONNECTED or self._input is None:
                    raise ProblemError(lost(self.host))
                self._asked[number] = asked
        self._send(Call(number, operation.name, as_json(request)))
        return number

    def _begin(self, following: Following[Any, Any]) -> None:
        self._number += 1
        following.again_s = None
        following.number = self._number
        request = as_json(following.request())
        self._send(Call(following.number, following.operation.name, request))

    def _send(self, line: FromWindow) -> None:
        content = encoded(line)
        with self._lock:
            if self._input is None:
                return
            # What could not be written is lost with the connection, whose end is heard by itself.
            with suppress(OSError, ValueError):
                self._input.write(content)
                self._input.flush()

    def _close_input(self) -> None:
        with self._lock:
            if self._input is not None:
                with suppress(OSError):
                    self._input.close()
                self._input = None


def _ignore(_part: object) -> None:
    pass
