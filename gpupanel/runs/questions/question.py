"""What a tool asks a child process: declared once, asked in one way, its death worded in one."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from gpupanel.devices.answer_lines import AnswerLines
from gpupanel.devices.child_process import ChildAnswer, ChildEnd, ask_child
from gpupanel.devices.elsewhere import elsewhere
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.value import Value

AskChild = Callable[..., ChildAnswer]
"""Starts a child and waits for its answer, as :func:`~gpupanel.devices.child_process.ask_child`."""
_asked_by: Final[list[AskChild]] = [ask_child]


def ask_children_by(ask: AskChild) -> None:
    """Have every question of this process asked so from now on: on another machine, for one."""
    _asked_by[0] = ask


_RequestT = TypeVar("_RequestT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)
OnProgress = Callable[[Any], object]
"""Called with how far a tool is."""


def ignore_progress(progress: object) -> None:
    """The default for callers that show no progress: does nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[_AnswerT]):
    """What became of a process that was asked.

    Attributes:
        answer: What it answered; ``None``: nothing, or nothing that can be read.
        known: What lines before said of the answer; ``None``: they did not.
        problem: Why there is no answer; ``None`` where there is one, and where one that answers by
            lines was cancelled.
        child: How it ended; ``None``: it could not be started.
    """

    answer: _AnswerT | None = None
    known: _AnswerT | None = None
    problem: Problem | None = None
    child: ChildAnswer | None = None

    @property
    def exit_code(self) -> int | None:
        """The negative number of the signal that ended it; ``None``: it did not end by itself."""
        return None if self.child is None else self.child.exit_code

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        return "" if self.child is None else self.child.log


@dataclass(frozen=True, kw_only=True)
class Question(Generic[_RequestT, _AnswerT]):
    """One that is asked by calling it.

    A tool whose processes may die and are followed by others asks each of them by :meth:`ask`.

    Attributes:
        code: Begins the codes of its problems ("preview").
        has_one_code: That is the code of each of them.
        process: Who is asked ("the process that builds the model").
        work: What it does ("building the model").
        command: What is started: it reads the request on stdin, as JSON, and answers on stdout.
        answer: The kind of its answer, which has ``problems``.
        lines: What a line of stdout holds, by its key; empty: all of stdout is the answer. The last
            one is the answer; a line before of the same kind is what is known of it.
        limit_s: How long it may take.
        grace_s: How long one that was cancelled is given to remove files that it has begun.
        slow_hint: What can be done where that takes too long.
        death_hint: What can be done where it died.
        field: The key of the profile that it is about.
        severity: Of its problems.
        complete: Adds to an answer what is known without the child.
    """

    code: str
    process: str
    work: str
    command: tuple[str, ...]
    answer: type[_AnswerT]
    limit_s: float
    death_hint: str
    slow_hint: str = ""
    field: str = ""
    has_one_code: bool = False
    lines: Mapping[str, type[Value]] = dataclasses.field(default_factory=dict)
    severity: Severity = Severity.ERROR
    grace_s: float = 0.0
    complete: Callable[[_RequestT, _AnswerT], _AnswerT] | None = None

    def __call__(
        self,
        request: _RequestT,
        device: str = CPU_KEY,
        *,
        cancelled: Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> _AnswerT:
        """Ask it, and wait for the answer.

        Whatever becomes of the process, that is the answer: a death, a time limit or an answer that
        cannot be read is a problem in it, beside what was known. One by lines that was cancelled is
        what was known.

        Args:
            request: What is asked.
            device: The key of the GPU that the process may use; the CPU's: none.
            cancelled: Set, by any thread, when the answer is not wanted any more.
            on_progress: Called with what lines hold before the answer.
        """
        reply = self.ask(
            request,
            variables_of(device),
            cancelled=cancelled,
            on_part=on_progress or ignore_progress,
        )
        if reply.problem is not None:
            known: Any = reply.known or self.answer()
            return self.answer.model_validate(
                {**known.__dict__, "problems": (reply.problem, *known.problems)}
            )
        if reply.answer is None:
            return reply.known or self.answer()
        return reply.answer if self.complete is None else self.complete(request, reply.answer)

    def answered(
        self, request: Value | None, device: str = CPU_KEY, cancelled: Event | None = None
    ) -> _AnswerT | Problem:
        """The answer, or the problem that kept the process from answering.

        Args:
            request: What is asked; ``None``: the command says it.
            device: The key of the GPU that the process may use; the CPU's: none.
            cancelled: Set, by any thread, when the answer is not wanted any more.
        """
        reply = self.ask(request, variables_of(device), cancelled=cancelled)
        if reply.problem is not None:
            return reply.problem
        return self.answer() if reply.answer is None else reply.answer

    def ask(
        self,
        request: Value | None,
        variables: Mapping[str, str],
        *,
        limit_s: float | None = None,
        cancelled: Event | None = None,
        on_part: Callable[[Value], object] = ignore_progress,
    ) -> Reply[_AnswerT]:
        """Ask one process, and wait for what becomes of it.

        Args:
            request: What is asked; ``None``: the command says it.
            variables: Of its environment, besides those of this process.
            limit_s: How long it may take; left out, as declared.
            cancelled: Set, by any thread, when the answer is not wanted any more.
            on_part: Called with what each line holds before the answer.
        """
        # Not model_dump_json(), which raises for a path that is no UTF-8. By lines to one that is
        # asked several times.
        asked = b"" if request is None else json.dumps(request.model_dump(mode="json")).encode()
        heard = _Heard(self, on_part)
        limit_s = self.limit_s if limit_s is None else limit_s
        try:
            child = _asked_by[0](
                self.command,
                limit_s,
                cancelled,
                variables,
                asked + b"\n",
                on_output=AnswerLines(heard.take_line).take if self.lines else None,
                grace_s=self.grace_s,
            )
        except OSError as error:
            return Reply(problem=self.not_started(error))
        if not self.lines and child.end is ChildEnd.BY_ITSELF and not child.exit_code:
            heard.take_all(child.output)
        problem = None
        if heard.answer is None and not (self.lines and child.end is ChildEnd.CANCELLED):
            problem = self.death(child, heard.misread, limit_s)
        return Reply(heard.answer, heard.known, problem, child)

    def not_started(self, error: OSError) -> Problem:
        """Why there is no process that could answer."""
        hint = "Repair the installation of gpupanel; the detail has the system's answer."
        message = f"{self.process} could not be started."
        return self._problem("not_started", message, hint, str(error))

    def death(self, child: ChildAnswer, misread: str, limit_s: float) -> Problem:
        """Why a process has not answered.

        Args:
            child: How it ended.
            misread: Why what it answered cannot be read; empty: it said nothing.
            limit_s: How long it was given.
        """
        if child.end is not ChildEnd.BY_ITSELF:
            message = f"{self.work} took more than {limit_s:g} s and was stopped."
            return self._problem("too_slow", message, self.slow_hint, child.log)
        if child.exit_code:
            is_killed = child.exit_code < 0
            end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
            died = self._problem("died", f"{self.process} {end}.", self.death_hint, child.log)
            return _with_spoiler(died, child.log)
        return self._problem(
            "unreadable",
            f"{self.process} gave an unreadable answer.",
            "This is a defect of gpupanel; please report it with the detail.",
            f"{misread}\n{child.log}",
        )

    def _problem(self, end: str, message: str, hint: str, detail: str) -> Problem:
        code = self.code if self.has_one_code else f"{self.code}_{end}"
        return Problem(
            code=code,
            severity=self.severity,
            field=self.field,
            message=message[0].upper() + message[1:],
            hint=hint,
            detail=last_lines(detail),
        )


class _Heard(Generic[_RequestT, _AnswerT]):
    """Reads an answer: whole, or by lines as they come."""

    def __init__(
        self, question: Question[_RequestT, _AnswerT], on_part: Callable[[Value], object]
    ) -> None:
        self._question, self._on_part = question, on_part
        self.known: _AnswerT | None = None
        self.answer: _AnswerT | None = None
        self.misread = ""

    def take_all(self, output: bytes) -> None:
        """All that the process wrote."""
        try:
            self.answer = self._question.answer.model_validate_json(output)
        except ValidationError as error:
            self.misread = str(error)

    def take_line(self, text: bytes) -> None:
        """A further line."""
        lines = self._question.lines
        try:
            parts = {key: lines[key].model_validate(part) for key, part in from_json(text).items()}
        except (ValueError, LookupError, AttributeError) as error:
            self.misread = self.misread or str(error)
            return
        for key, part in parts.items():
            if isinstance(part, self._question.answer):
                self.known = part
            if key == list(lines)[-1]:
                self.answer = self.known
            else:
                self._on_part(part)


_WITHOUT_GPU: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


def variables_of(device: str) -> dict[str, str]:
    """Variables of a process that may use that GPU, or none where it is the CPU."""
    if device == CPU_KEY:
        return _WITHOUT_GPU
    # Others may use the GPU meanwhile: no more than is needed is taken.
    used = {"CUDA_VISIBLE_DEVICES": device, "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
    return {**_WITHOUT_GPU, **used}


def _with_spoiler(died: Problem, log: str) -> Problem:
    """The death with what of elsewhere its last words name, where they name something."""
    for each in elsewhere():
        if names := each.blamed_in(log):
            return died.model_copy(
                update={
                    "message": f"{died.message[:-1]}: {each.name} brings {', '.join(names)}.",
                    "hint": "Start gpupanel without: the command does.",
                    "command": each.command,
                }
            )
    return died
