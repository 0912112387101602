"""The connection to a host: kept up, made anew after a cut, and shared by all who ask there."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from threading import Event, RLock, Thread
from typing import Any, Final, TypeVar

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.hosts.here.calls import Following, HostCalls
from gpupanel.hosts.here.connection import Connection, SilentError
from gpupanel.hosts.here.link_problems import another_version, lost, not_started, odd, silent
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.hosts.here.ssh import (
    PROGRAM,
    ended_problem,
    is_for_a_person,
    shared_connection_command,
    ssh_command,
)
from gpupanel.hosts.lines import PROTOCOL, Hello, KeepAlive, LinesError
from gpupanel.hosts.operations.operation import Operation

_ASKING_S: Final = 120.0
"""Until a host says hello where somebody may have to type a password."""
_HELLO_S: Final = 60.0
"""Where nobody has to: as long as a loaded machine takes to start a process."""
_CHECK_S: Final = 5.0
_PAUSES_S: Final[tuple[float | None, ...]] = (0.5, 1.0, 2.0, 4.0, 8.0)
_HANGS_S: Final = 15.0
"""After so long a try is given up where a person wants another one: before it may just be made."""
_LOOK_S: Final = 0.05
_CANCELLED_S: Final = 10.0
_RequestT = TypeVar("_RequestT", bound=Value)
_PartT = TypeVar("_PartT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)


@dataclass(frozen=True, slots=True)
class _End:
    """How a connection ended.

    Attributes:
        problem: Why.
        was_there: Whether it was there at all.
        was_silent: Nothing came through it any more.
        is_for_a_person: It does not pass by itself.
    """

    problem: Problem
    was_there: bool = False
    was_silent: bool = False
    is_for_a_person: bool = False


class Link:
    """A connection after the other, and the calls over them.

    Where the person has ``ssh`` share a connection (``ControlMaster``), this one goes through it.
    A shared one that is gone without an end is joined again by each new ``ssh``, for as long as its
    own process does not notice, which may take many minutes: after such a silence the next
    connection is one of its own.

    Args:
        host: As the person names it.
        heard: Called with each :class:`LinkState`, in a thread of the link's own.
        program: The command of gpupanel there.
        command: What is started in place of ``ssh``.

    Attributes:
        shares: Whether ``ssh`` is to go through a shared connection, where there is one.
    """

    def __init__(
        self,
        host: str,
        heard: Callable[[LinkState], object],
        program: str = PROGRAM,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self.host, self._program, self._heard = host, program, heard
        self._command = command
        self.state = LinkState(LinkCondition.CONNECTING, time.time())
        self.shares = True
        self._calls = HostCalls(host)
        self._lock = RLock()
        self._connection: Connection | None = None
        self._is_ended = False
        self._again = Event()
        self._thread = Thread(target=self._keep, name=f"link to {host}", daemon=True)

    def start(self) -> None:
        """Connect; :attr:`state` follows."""
        self._thread.start()

    def try_again(self) -> None:
        """Connect now, instead of after the next pause, or though somebody had to do something."""
        self._again.set()
        with self._lock:
            is_trying = self.state.kind is not LinkCondition.CONNECTED
            if self._connection is not None and is_trying and self._connection.age_s > _HANGS_S:
                self._connection.end(0.0)

    def end(self) -> None:
        """End the connection, and whatever waits for answers; runs on the host go on."""
        self._is_ended = True
        self._again.set()
        with self._lock:
            connection = self._connection
        if connection is not None:
            connection.end(2.0)
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
        asked = self._calls.ask(operation, request, on_part or _ignore)
        while not asked.done.wait(_LOOK_S if cancelled else None):
            if cancelled is not None and cancelled.is_set():
                self._calls.drop(asked.number)
                asked.done.wait(_CANCELLED_S)
                break
        self._calls.forget(asked)
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
        self._calls.follow(following)
        return following

    def unfollow(self, following: Following[Any, Any]) -> None:
        """Have it told no more."""
        self._calls.unfollow(following)

    def _await_first(self, cancelled: Event | None) -> None:
        """While the connection is only just made there is nothing to refuse yet."""
        while self.state.kind is LinkCondition.CONNECTING and not self._is_ended:
            if (cancelled is not None and cancelled.is_set()) or not self._thread.is_alive():
                return
            time.sleep(_LOOK_S)

    # In the link's own thread.

    def _keep(self) -> None:
        cuts, may_ask = 0, True
        while not self._has_ended():
            is_shared = self._goes_through_another()
            end = self._connect(may_ask=may_ask, is_shared=is_shared)
            if self._has_ended():
                break
            cuts = 0 if end.was_there else cuts + 1
            kind, pause_s = LinkCondition.CUT, _PAUSES_S[min(cuts, len(_PAUSES_S) - 1)]
            is_first = self.state.hello is None
            # That one of its own is not let in by itself does not say that a shared one is not.
            is_for_a_person = end.is_for_a_person and (self.shares or may_ask)
            self.shares = not (is_shared and end.was_silent)
            if not self.shares:
                kind, pause_s = LinkCondition.CONNECTING if is_first else kind, 0.0
            elif is_first or is_for_a_person:
                kind, pause_s = LinkCondition.REFUSED, None
            self._tell(kind, end.problem)
            may_ask = self._again.wait(pause_s) or kind is LinkCondition.CONNECTING
            self._again.clear()
        self._calls.lose()

    def _has_ended(self) -> bool:
        return self._is_ended

    def _goes_through_another(self) -> bool:
        """Whether ``ssh`` would go through the connection of another process; it may, then."""
        if not self.shares or self._command is not None:
            return False
        try:
            found = ask_child(shared_connection_command(self.host), _CHECK_S)
        except OSError:
            return False  # which connecting says
        self.shares = found.end is ChildEnd.BY_ITSELF  # a process that hangs has none to share
        return self.shares and found.exit_code == 0

    def _connect(self, *, may_ask: bool, is_shared: bool) -> _End:
        """Connect, and hear until the connection ends."""
        if self.state.kind is not LinkCondition.CUT:
            self._tell(LinkCondition.CONNECTING)
        command = self._command or ssh_command(
            self.host, self._program, asks=may_ask, shares=self.shares
        )
        try:
            connection = Connection(command)
        except OSError as error:
            return _End(not_started(error), is_for_a_person=True)
        was_there, wrong, was_silent = False, None, False
        with closing(connection):
            with self._lock:
                self._connection = connection
                if self._is_ended:
                    connection.end(0.0)
            try:
                hello = connection.hello(_ASKING_S if may_ask and not is_shared else _HELLO_S)
                self._greet(connection, hello)
                was_there = True
                self._hear(connection)
            except EOFError:
                pass
            except SilentError:
                was_silent = True
            except LinesError as error:
                wrong = odd(error)
            except ProblemError as error:
                wrong = error.problems[0]
            finally:
                with self._lock:
                    self._connection = None
                self._calls.lose()
        if was_silent:
            problem = lost(self.host) if was_there else silent(self.host)
            return _End(problem, was_there, was_silent=True)
        code, said = connection.exit_code, connection.said
        problem = wrong or ended_problem(self.host, self._program, code, said)
        waits = wrong is not None or is_for_a_person(code, said)
        return _End(problem, was_there, is_for_a_person=waits)

    def _greet(self, connection: Connection, hello: Hello) -> None:
        if hello.protocol != PROTOCOL:
            raise ProblemError(another_version(self.host, hello))
        now_s = time.time()
        self._calls.begin(connection.say)
        with self._lock:
            self.state = LinkState(
                LinkCondition.CONNECTED, now_s, None, hello, now_s - hello.time_s
            )
        self._heard(self.state)

    def _hear(self, connection: Connection) -> None:
        while True:
            said = connection.hear()
            if not isinstance(said, Hello | KeepAlive | None):
                self._calls.take(said)
            self._calls.begin_again()

    def _tell(self, kind: LinkCondition, problem: Problem | None = None) -> None:
        before = self.state
        since_s = before.since_s if before.kind is kind else time.time()
        with self._lock:
            self.state = LinkState(kind, since_s, problem, before.hello, before.behind_s)
        self._heard(self.state)


def _ignore(_part: object) -> None:
    pass
