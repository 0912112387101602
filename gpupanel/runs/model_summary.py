"""The layers of a profile's model before it is trained, by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.child_answer import ChildWords, answer_of_child
from gpupanel.runs.measured_memory import with_measured

SUMMARY_COMMAND: Final = python_module_command("gpupanel.trainer.model_summary")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 300.0
_WORDS: Final = ChildWords(
    code="summary",
    process="the process that builds the model",
    work="building the model",
    slow_hint="It may have too many layers, or this machine may be busy.",
    death_hint="The model may be too large for this machine's memory; copy the detail.",
    field="model",
)


def summarize_model(
    request: SummaryRequest,
    time_limit_s: float = TIME_LIMIT_S,
    cancelled: Event | None = None,
    command: Sequence[str] = SUMMARY_COMMAND,
) -> ModelSummary:
    """Build a model in a process of its own, and list its layers.

    Whatever becomes of the process, the answer is a :class:`ModelSummary`: a death, a time limit
    or an answer that cannot be read is a problem in it. What was measured of its step on this
    machine is in it, too.

    Args:
        request: What to build.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        command: Answers the request on stdin with a :class:`ModelSummary` on stdout.
    """
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    found = answer_of_child(ModelSummary, _WORDS, command, question, time_limit_s, cancelled)
    if isinstance(found, Problem):
        return ModelSummary(problems=(found,))
    if found.step is None:
        return found
    return found.model_copy(update={"step": with_measured(request, found.step)})
