"""A scan of a profile's data, by a child process."""

import json
import math
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from gpupanel.devices.answer_lines import AnswerLines
from gpupanel.devices.child_process import ChildAnswer, ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest

SCAN_COMMAND: Final = python_module_command("gpupanel.trainer.scan")
"""Reads the question on standard input and answers by lines on standard output."""
_VARIABLES: Final = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
"""Hides every GPU from the child, and TensorFlow's log below errors: a scan needs neither."""
_GRACE_S: Final = 1.0


class _Line(BaseModel):
    """One line of the answer: one of the three."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    progress: ScanProgress | None = None
    first: DataScan | None = None
    scan: DataScan | None = None


def ignore_progress(progress: ScanProgress) -> None:
    """The default for callers that show no progress: does nothing."""


def ignore_first_report(first: DataScan) -> None:
    """The default for callers that wait for the whole scan: does nothing."""


def scan_data(
    request: ScanRequest,
    cancelled: Event | None = None,
    on_progress: Callable[[ScanProgress], None] = ignore_progress,
    on_first_report: Callable[[DataScan], None] = ignore_first_report,
    command: Sequence[str] = SCAN_COMMAND,
) -> DataScan:
    """Scan all of the data that a profile names, however long it takes.

    Whatever becomes of the process, the answer is a :class:`DataScan`: a death or an answer that
    cannot be read is a problem in it; one that was cancelled is what was known until then.

    Args:
        request: Which data.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        on_progress: Called while it goes on.
        on_first_report: Called with what is known first, before anything is read whole.
        command: Answers the request on stdin with lines on stdout.
    """
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    heard = _Answer(on_progress, on_first_report)
    try:
        child = ask_child(
            command,
            math.inf,
            cancelled,
            _VARIABLES,
            question,
            on_output=AnswerLines(heard.take_line).take,
            grace_s=_GRACE_S,
        )
    except OSError as error:
        return _failed(
            heard.known,
            "scan_not_started",
            "The process that scans the data could not be started.",
            "Repair the installation of gpupanel; the detail has the system's answer.",
            str(error),
        )
    if child.end is ChildEnd.CANCELLED:
        return heard.known
    return heard.scan or _died(heard, child)


class _Answer:
    """Takes an answer apart as it comes."""

    def __init__(
        self,
        on_progress: Callable[[ScanProgress], None],
        on_first_report: Callable[[DataScan], None],
    ) -> None:
        self._on_progress, self._on_first_report = on_progress, on_first_report
        self.known = DataScan()
        self.scan: DataScan | None = None
        self.misread = ""

    def take_line(self, text: bytes) -> None:
        """A further line."""
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            self.misread = self.misread or str(error)
            return
        if line.progress is not None:
            self._on_progress(line.progress)
        if line.first is not None:
            self.known = line.first
            self._on_first_report(line.first)
        if line.scan is not None:
            self.scan = line.scan


def _died(heard: _Answer, child: ChildAnswer) -> DataScan:
    if not child.exit_code:
        return _failed(
            heard.known,
            "scan_unreadable",
            "The process that scans the data gave an unreadable answer.",
            "This is a defect of gpupanel; please report it with the detail.",
            f"{heard.misread}\n{child.log}",
        )
    is_killed = child.exit_code < 0
    end = "was killed" if is_killed else f"ended with exit status {child.exit_code}"
    return _failed(
        heard.known,
        "scan_died",
        f"The process that scans the data {end}.",
        "The data may be damaged or too large for this machine's memory; copy the detail.",
        child.log,
    )


def _failed(known: DataScan, code: str, message: str, hint: str, detail: str) -> DataScan:
    problem = Problem(
        code=code, field="data", message=message, hint=hint, detail=last_lines(detail)
    )
    return known.model_copy(update={"problems": (problem, *known.problems)})
