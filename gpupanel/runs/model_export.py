"""A trained model for other programs, written by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.child_answer import ChildWords, answer_of_child

EXPORT_COMMAND: Final = python_module_command("gpupanel.trainer.model_export")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 1800.0
_WORDS: Final = ChildWords(
    code="model_export",
    process="the process that exports the model",
    work="exporting the model",
    slow_hint="The model may be too large for this machine, or it is busy.",
    death_hint="The model may be too large for this machine's memory; copy the detail.",
    field="model.path",
)


def export_model(
    request: ModelExportRequest,
    cancelled: Event | None = None,
    command: Sequence[str] = EXPORT_COMMAND,
) -> ModelExport:
    """Write a model for other programs, in a process of its own.

    Whatever becomes of the process, the answer is a :class:`ModelExport`: a death, a time limit or
    an answer that cannot be read is a problem in it.

    Args:
        request: What to write.
        cancelled: Set, by any thread, when it is not wanted any more.
        command: Answers the request on stdin with a :class:`ModelExport` on stdout.
    """
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    found = answer_of_child(ModelExport, _WORDS, command, question, TIME_LIMIT_S, cancelled)
    return ModelExport(problems=(found,)) if isinstance(found, Problem) else found
