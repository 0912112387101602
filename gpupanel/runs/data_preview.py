"""A preview of data and model file of a profile, by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity

PREVIEW_COMMAND: Final = python_module_command("gpupanel.trainer.preview")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 120.0
_VARIABLES: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
"""Without a GPU and without TensorFlow's chatter: a preview needs neither."""
_LAST_LINES: Final = 12


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
    try:
        child = ask_child(command, time_limit_s, cancelled, _VARIABLES, question)
    except OSError as error:
        return _failed(
            "preview_not_started",
            "The process that reads the data for the preview could not be started.",
            "Repair the installation of gpupanel; the detail has the system's answer.",
            str(error),
        )
    if child.end is not ChildEnd.BY_ITSELF:
        return _failed(
            "preview_too_slow",
            f"Reading the data for the preview took more than {time_limit_s:g} s and was stopped.",
            "A run may still read it; a very large file or a slow disk can be the cause.",
            child.log,
        )
    if child.exit_code:
        is_killed = child.exit_code < 0
        end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
        return _failed(
            "preview_died",
            f"The process that reads the data for the preview {end}.",
            "The data may be damaged or too large for this machine's memory; copy the detail.",
            child.log,
        )
    try:
        return DataPreview.model_validate_json(child.output)
    except ValidationError as error:
        return _failed(
            "preview_unreadable",
            "The process that reads the data for the preview gave an unreadable answer.",
            "This is a defect of gpupanel; please report it with the detail.",
            f"{error}\n{child.log}",
        )


def _failed(code: str, message: str, hint: str, detail: str) -> DataPreview:
    last_lines = "\n".join(detail.strip().splitlines()[-_LAST_LINES:])
    problem = Problem(
        code=code,
        severity=Severity.WARNING,
        field="data",
        message=message,
        hint=hint,
        detail=last_lines,
    )
    return DataPreview(problems=(problem,))
