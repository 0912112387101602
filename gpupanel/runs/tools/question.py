"""What a tool asks a child process: declared once, asked in one way, its death worded in one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

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
        process: Who is asked ("the process that builds the model").
        work: What it does ("building the model").
        command: What is started: it reads the request on stdin, as JSON, and answers on stdout.
        answer: The kind of its answer, which has ``problems``.
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
    slow_hint: str
    death_hint: str
    field: str
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
        cannot be read is a problem in it.

        Args:
            request: What is asked.
            device: The key of the GPU that the process may use; the CPU's: none.
            cancelled: Set, by any thread, when the answer is not wanted any more.
            on_progress: Called while it goes on, by a process that says how far it is.
        """
        found = self.answered(request, device, cancelled)
        if isinstance(found, Problem):
            return self.answer.model_validate({"problems": (found,)})
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
        # Not model_dump_json(), which raises for a path that is no UTF-8. By lines to one that is
        # asked several times.
        asked = b"" if request is None else json.dumps(request.model_dump(mode="json")).encode()
        try:
            child = ask_child(
                self.command, self.limit_s, cancelled, _variables(device), asked + b"\n"
            )
        except OSError as error:
            hint = "Repair the installation of gpupanel; the detail has the system's answer."
            return self._problem(
                "not_started", f"{self.process} could not be started.", hint, str(error)
            )
        if child.end is not ChildEnd.BY_ITSELF:
            message = f"{self.work} took more than {self.limit_s:g} s and was stopped."
            return self._problem("too_slow", message, self.slow_hint, child.log)
        if child.exit_code:
            is_killed = child.exit_code < 0
            end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
            died = self._problem("died", f"{self.process} {end}.", self.death_hint, child.log)
            return _with_spoiler(died, child.log)
        try:
            return self.answer.model_validate_json(child.output)
        except ValidationError as error:
            return self._problem(
                "unreadable",
                f"{self.process} gave an unreadable answer.",
                "This is a defect of gpupanel; please report it with the detail.",
                f"{error}\n{child.log}",
            )

    def _problem(self, end: str, message: str, hint: str, detail: str) -> Problem:
        return Problem(
            code=f"{self.code}_{end}",
            severity=self.severity,
            field=self.field,
            message=message[0].upper() + message[1:],
            hint=hint,
            detail=last_lines(detail),
        )


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
