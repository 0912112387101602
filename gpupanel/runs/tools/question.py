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
from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.devices.elsewhere import elsewhere
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.value import Value

_RequestT = TypeVar("_RequestT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)
OnProgress = Callable[[Any], object]
"""Called with how far a tool is."""


@dataclass(frozen=True, kw_only=True)
class Question(Generic[_RequestT, _AnswerT]):
    """One that is asked by calling it.

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
        heard = _Heard(self, on_progress)
        found = self._found(request, device, cancelled, heard)
        if isinstance(found, Problem):
            known: Any = heard.known or self.answer()
            return self.answer.model_validate(
                {**known.__dict__, "problems": (found, *known.problems)}
            )
        return found if self.complete is None else self.complete(request, found)

    def answered(
        self, request: Value | None, device: str = CPU_KEY, cancelled: Event | None = None
    ) -> _AnswerT | Problem:
        """The answer, or the problem that kept the process from answering.

        Args:
            request: What is asked; ``None``: the command says it.
            device: The key of the GPU that the process may use; the CPU's: none.
            cancelled: Set, by any thread, when the answer is not wanted any more.
        """
        return self._found(request, device, cancelled, _Heard(self, None))

    def _found(
        self,
        request: Value | None,
        device: str,
        cancelled: Event | None,
        heard: "_Heard[_RequestT, _AnswerT]",
    ) -> _AnswerT | Problem:
        # Not model_dump_json(), which raises for a path that is no UTF-8. By lines to one that is
        # asked several times.
        asked = b"" if request is None else json.dumps(request.model_dump(mode="json")).encode()
        try:
            child = ask_child(
                self.command,
                self.limit_s,
                cancelled,
                _variables(device),
                asked + b"\n",
                on_output=AnswerLines(heard.take_line).take if self.lines else None,
                grace_s=_GRACE_S if self.lines else 0.0,
            )
        except OSError as error:
            hint = "Repair the installation of gpupanel; the detail has the system's answer."
            return self._problem(
                "not_started", f"{self.process} could not be started.", hint, str(error)
            )
        if child.end is ChildEnd.CANCELLED and self.lines:
            return heard.known or self.answer()
        if heard.answer is not None:
            return heard.answer
        if child.end is not ChildEnd.BY_ITSELF:
            message = f"{self.work} took more than {self.limit_s:g} s and was stopped."
            return self._problem("too_slow", message, self.slow_hint, child.log)
        if child.exit_code:
            is_killed = child.exit_code < 0
            end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
            died = self._problem("died", f"{self.process} {end}.", self.death_hint, child.log)
            return _with_spoiler(died, child.log)
        if not self.lines:
            try:
                return self.answer.model_validate_json(child.output)
            except ValidationError as error:
                heard.misread = str(error)
        return self._problem(
            "unreadable",
            f"{self.process} gave an unreadable answer.",
            "This is a defect of gpupanel; please report it with the detail.",
            f"{heard.misread}\n{child.log}",
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
    """Takes an answer by lines apart as it comes."""

    def __init__(
        self, question: Question[_RequestT, _AnswerT], on_progress: OnProgress | None
    ) -> None:
        self._question, self._on_progress = question, on_progress
        self.known: _AnswerT | None = None
        self.answer: _AnswerT | None = None
        self.misread = ""

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
            elif self._on_progress is not None:
                self._on_progress(part)


_GRACE_S: Final = 1.0
"""For one that was cancelled to remove files that it has begun."""
_WITHOUT_GPU: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


def _variables(device: str) -> dict[str, str]:
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
