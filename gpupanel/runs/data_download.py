"""A download of a profile's data before a run, by a child process."""

import json
import math
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from gpupanel.devices.answer_lines import AnswerLines
from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem

DOWNLOAD_COMMAND: Final = python_module_command("gpupanel.trainer.data_download")
"""Reads the question on standard input and answers by lines on standard output."""
_GRACE_S: Final = 1.0


class _Line(BaseModel):
    """One line of the answer: one of the two."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    progress: DownloadProgress | None = None
    end: DownloadEnd | None = None


def download_data(
    request: DownloadRequest,
    cancelled: Event | None = None,
    on_progress: Callable[[DownloadProgress], None] = lambda _: None,
    command: Sequence[str] = DOWNLOAD_COMMAND,
) -> DownloadEnd | None:
    """Fetch the data, however long it takes.

    Whatever becomes of the process, the answer says it: a death or an answer that cannot be read is
    a problem in it.

    Args:
        request: Which data.
        cancelled: Set, by any thread, when it is not wanted any more.
        on_progress: Called while it goes on.
        command: Answers the request on stdin with lines on stdout.

    Returns:
        How it ended; ``None`` where it was cancelled, and nothing of it is left.
    """
    ends: list[DownloadEnd] = []
    misread: list[str] = []

    def take_line(text: bytes) -> None:
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            misread.append(str(error))
            return
        if line.progress is not None:
            on_progress(line.progress)
        if line.end is not None:
            ends.append(line.end)

    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    try:
        child = ask_child(
            command,
            math.inf,
            cancelled,
            question=question,
            on_output=AnswerLines(take_line).take,
            grace_s=_GRACE_S,
        )
    except OSError as error:
        return _failed("The process that downloads could not be started.", str(error))
    if child.end is ChildEnd.CANCELLED:
        return None
    if ends:
        return ends[-1]
    if not child.exit_code:
        return _failed(
            "The process that downloads gave an unreadable answer.",
            "\n".join([*misread[:1], child.log]),
        )
    is_killed = child.exit_code < 0
    end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
    return _failed(f"The process that downloads {end}.", child.log)


def _failed(message: str, detail: str) -> DownloadEnd:
    problem = Problem(
        code="download_died",
        field="data.source",
        message=message,
        hint=(
            "Try again, or start a run, which downloads it as well. The detail has the process's "
            "answer."
        ),
        detail=last_lines(detail),
    )
    return DownloadEnd(problems=(problem,))
