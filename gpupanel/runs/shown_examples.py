"""Examples of a run with what it made of them, read by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem
from gpupanel.domain.shown_examples import ShownExamples, ShownRequest

SHOWN_COMMAND: Final = python_module_command("gpupanel.trainer.shown_examples")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 120.0
_VARIABLES: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


def shown_examples(
    request: ShownRequest,
    cancelled: Event | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    command: Sequence[str] = SHOWN_COMMAND,
) -> ShownExamples:
    """The examples that were chosen; whatever becomes of the process is a problem in the answer.

    Args:
        request: Which examples of which run.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        time_limit_s: How long it may take.
        command: Answers the request on stdin with a :class:`ShownExamples` on stdout.
    """
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    try:
        child = ask_child(command, time_limit_s, cancelled, _VARIABLES, question)
    except OSError as error:
        return _failed("The process that reads the examples could not be started", str(error))
    if child.end is not ChildEnd.BY_ITSELF:
        took = f"Reading the examples took more than {time_limit_s:g} s and was stopped"
        return _failed(took, child.log)
    if child.exit_code:
        return _failed("The process that reads the examples ended before its answer", child.log)
    try:
        return ShownExamples.model_validate_json(child.output)
    except ValidationError as error:
        return _failed("The process that reads the examples gave an unreadable answer", str(error))


def _failed(what: str, detail: str) -> ShownExamples:
    problem = Problem(
        code="examples_not_shown",
        message=f"{what}.",
        hint="The data may be damaged, too large for this machine's memory, or on a slow disk.",
        detail=last_lines(detail),
    )
    return ShownExamples(problems=(problem,))
