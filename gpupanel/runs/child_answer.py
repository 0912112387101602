"""One JSON document that a child process answers, or the problem that kept it from answering."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Final, TypeVar

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.devices.elsewhere import elsewhere
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.value import Value

_VARIABLES: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
"""Hides every GPU from the child, and TensorFlow's log below errors."""

_AnswerT = TypeVar("_AnswerT", bound=Value)


@dataclass(frozen=True, slots=True)
class ChildWords:
    """How problems of a child process are worded.

    Attributes:
        code: Begins the codes of its problems ("preview").
        process: What it is ("the process that builds the model").
        work: What it does ("building the model").
        slow_hint: What can be done where that takes too long.
        death_hint: What can be done where it died.
        field: The key of the profile that it is about.
        severity: Of its problems.
    """

    code: str
    process: str
    work: str
    slow_hint: str
    death_hint: str
    field: str
    severity: Severity = Severity.ERROR


def answer_of_child(
    answer: type[_AnswerT],
    words: ChildWords,
    command: Sequence[str],
    question: bytes,
    time_limit_s: float,
    cancelled: Event | None,
    variables: Mapping[str, str] | None = None,
) -> _AnswerT | Problem:
    """Ask a child process, and wait for its answer.

    Args:
        answer: What it answers on stdout, as JSON.
        words: How its problems are worded.
        command: What to start.
        question: What it finds on stdin.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        variables: Of its environment, in place of those that leave it without a GPU.

    Returns:
        The answer, or the problem: a death, a time limit, an answer that cannot be read.
    """
    process = words.process[0].upper() + words.process[1:]

    def problem(end: str, message: str, hint: str, detail: str) -> Problem:
        return Problem(
            code=f"{words.code}_{end}",
            severity=words.severity,
            field=words.field,
            message=message,
            hint=hint,
            detail=last_lines(detail),
        )

    try:
        child = ask_child(
            command, time_limit_s, cancelled, {**_VARIABLES, **(variables or {})}, question
        )
    except OSError as error:
        return problem(
            "not_started",
            f"{process} could not be started.",
            "Repair the installation of gpupanel; the detail has the system's answer.",
            str(error),
        )
    if child.end is not ChildEnd.BY_ITSELF:
        work = words.work[0].upper() + words.work[1:]
        message = f"{work} took more than {time_limit_s:g} s and was stopped."
        return problem("too_slow", message, words.slow_hint, child.log)
    if child.exit_code:
        is_killed = child.exit_code < 0
        end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
        died = problem("died", f"{process} {end}.", words.death_hint, child.log)
        return _with_spoiler(died, child.log)
    try:
        return answer.model_validate_json(child.output)
    except ValidationError as error:
        return problem(
            "unreadable",
            f"{process} gave an unreadable answer.",
            "This is a defect of gpupanel; please report it with the detail.",
            f"{error}\n{child.log}",
        )


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
