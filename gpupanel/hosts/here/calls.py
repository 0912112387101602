"""What is asked of a host, by numbers, and whom its answers are for."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.hosts.here.link_problems import lost, odd
from gpupanel.hosts.lines import (
    Answer,
    AnswerPart,
    AnswerRefused,
    Call,
    Dropped,
    FromWindow,
    as_json,
)
from gpupanel.hosts.operations.operation import Operation
from gpupanel.runs.error_problems import problems_of

_AGAIN_S: Final = 5.0
"""How long what was told and could not be taken, as with a full disk, is left before it is told
again."""
_PROBLEMS: Final = TypeAdapter(tuple[Problem, ...])
_RequestT = TypeVar("_RequestT", bound=Value)
_PartT = TypeVar("_PartT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)


@dataclass(slots=True)
class Asked(Generic[_PartT, _AnswerT]):
    """A call whose answer is waited for; ``done`` is set once there is one, or a problem."""

    number: int
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


class HostCalls:
    """All calls of a window; each method may be called in any thread.

    Args:
        host: As the person names it.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._lock = threading.RLock()
        self._say: Callable[[FromWindow], object] | None = None
        self._number = 0
        self._asked: dict[int, Asked[Any, Any]] = {}
        self._followed: list[Following[Any, Any]] = []

    def begin(self, say: Callable[[FromWindow], object]) -> None:
        """There is a connection; call over it what is followed.

        Args:
            say: Tells the host a line; does not wait for it.
        """
        with self._lock:
            self._say = say
            for following in self._followed:
                self._call(following)

    def lose(self) -> None:
        """There is none any more; whoever waits for an answer hears that."""
        with self._lock:
            self._say = None
            asked, self._asked = self._asked, {}
            for following in self._followed:
                following.number = 0
        for each in asked.values():
            each.problems = (lost(self._host),)
            each.done.set()

    def ask(
        self,
        operation: Operation[_RequestT, _PartT, _AnswerT],
        request: _RequestT,
        on_part: Callable[[_PartT], object],
    ) -> Asked[_PartT, _AnswerT]:
        """Ask something, once.

        Raises:
            ProblemError: There is no connection.
        """
        content = as_json(request)
        with self._lock:
            if self._say is None:
                raise ProblemError(lost(self._host))
            self._number += 1
            asked = Asked(self._number, operation, on_part)
            self._asked[asked.number] = asked
            self._say(Call(asked.number, operation.name, content))
        return asked

    def drop(self, number: int) -> None:
        """Tell the host that a call's answer is not wanted any more."""
        with self._lock:
            if number and self._say is not None:
                self._say(Dropped(number))

    def forget(self, asked: Asked[Any, Any]) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            self._asked.pop(asked.number, None)

    def follow(self, following: Following[Any, Any]) -> None:
        """Call it now, and at the beginning of each connection."""
        with self._lock:
            self._followed.append(following)
            if self._say is not None:
                self._call(following)

    def unfollow(self, following: Following[Any, Any]) -> None:
        """Call it no more."""
        with self._lock:
            if following in self._followed:
                self._followed.remove(following)
            number, following.number = following.number, 0
        self.drop(number)

    def begin_again(self) -> None:
        """Call anew what could not be taken a while ago."""
        with self._lock:
            for following in self._followed:
                again_s = following.again_s
                if self._say and again_s is not None and time.monotonic() >= again_s:
                    self._call(following)

    def take(self, said: AnswerPart | Answer | AnswerRefused) -> None:
        """Hand on what the host said; of a call that nobody waits for any more nothing."""
        with self._lock:
            asked = self._asked.get(said.number)
            following = next((each for each in self._followed if each.number == said.number), None)
        if asked is not None:
            self._take_for(asked, said)
        elif following is not None:
            self._take_followed(following, said)

    def _call(self, following: Following[Any, Any]) -> None:
        assert self._say is not None
        self._number += 1
        following.again_s = None
        following.number = self._number
        request = as_json(following.request())
        self._say(Call(following.number, following.operation.name, request))

    def _take_for(self, asked: Asked[Any, Any], said: AnswerPart | Answer | AnswerRefused) -> None:
        try:
            if isinstance(said, AnswerPart):
                asked.on_part(asked.operation.part.model_validate_json(bytes(said.content)))
                return
            if isinstance(said, Answer):
                asked.answer = asked.operation.answer.model_validate_json(bytes(said.content))
            else:
                problems = _PROBLEMS.validate_json(bytes(said.content))
                asked.problems = problems or (lost(self._host),)
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
            self.drop(number)
