"""A preview of data and model file of a profile, by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.child_answer import ChildWords, answer_of_child

PREVIEW_COMMAND: Final = python_module_command("gpupanel.trainer.preview")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 120.0
_WORDS: Final = ChildWords(
    code="preview",
    process="the process that reads the data for the preview",
    work="reading the data for the preview",
    slow_hint="A run may still read it; a very large file or a slow disk can be the cause.",
    death_hint="The data may be damaged or too large for this machine's memory; copy the detail.",
    field="data",
    severity=Severity.WARNING,
)


def preview_data(
    request: PreviewRequest,
    time_limit_s: float = TIME_LIMIT_S,
    cancelled: Event | None = None,
    command: Sequence[str] = PREVIEW_COMMAND,
) -> DataPreview:
    """The counts, and every problem of the data and of the model's file that a profile names.

    Whatever becomes of the process, the answer is a :class:`DataPreview`: a death, a time limit
    or an answer that cannot be read is a problem in it.

    Args:
        request: What to preview.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        command: Answers the request on stdin with a :class:`DataPreview` on stdout.
    """
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    found = answer_of_child(DataPreview, _WORDS, command, question, time_limit_s, cancelled)
    return DataPreview(problems=(found,)) if isinstance(found, Problem) else found
