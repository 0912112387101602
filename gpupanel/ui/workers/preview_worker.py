"""A look at the data, taken by a process of its own.

The window never imports what reads data sets: it asks ``python -m gpupanel.trainer.preview``, so
that a damaged file, a slow disk or a crash stays outside, and a look that nobody wants any more
can be ended at once.
"""

import json
import os
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal, Slot

from gpupanel.domain.child_command import child_environment, python_module_command
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity

COMMAND = python_module_command("gpupanel.trainer.preview")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_MS = 30_000
_LAST_LINES = 12
_END_LIMIT_MS = 2000


class PreviewLoader(QObject):
    """Asks for one look at a time; a new question ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataPreview`: a death, a time limit
    or an answer that cannot be read is a problem in it, never silence.
    """

    previewReady = Signal(object)
    """The :class:`DataPreview` of the last question."""
    busyChanged = Signal(bool)
    """Whether a look is being taken."""

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        time_limit_ms: int = TIME_LIMIT_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._command = tuple(command)
        self._process: QProcess | None = None
        self._question = b""
        self._is_late = False
        self._timer = QTimer(self, singleShot=True, interval=time_limit_ms)
        self._timer.timeout.connect(self._end_late)

    def is_busy(self) -> bool:
        """Whether a look is being taken."""
        return self._process is not None

    def load(self, request: PreviewRequest) -> None:
        """Takes a look at that; ends the look before, whose answer will not come."""
        was_busy = self.is_busy()
        self._drop()
        # Not model_dump_json(), which raises for a path that is no UTF-8.
        self._question = json.dumps(request.model_dump(mode="json")).encode()
        self._is_late = False
        process = QProcess(self)
        process.setProcessEnvironment(_environment())
        process.started.connect(self._ask)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)
        self._process = process
        self._timer.start()
        if not was_busy:
            self.busyChanged.emit(True)
        process.start(self._command[0], list(self._command[1:]))

    def stop(self) -> None:
        """Ends the look that is being taken, if any, and leaves no process behind.

        Called when the window closes: it waits for killed processes to be gone, which is short.
        """
        if self.is_busy():
            self._drop()
            self.busyChanged.emit(False)
        for process in self.findChildren(QProcess):
            process.waitForFinished(_END_LIMIT_MS)

    @Slot()
    def _ask(self) -> None:
        if self._process is not None:
            self._process.write(self._question)
            self._process.closeWriteChannel()

    @Slot()
    def _end_late(self) -> None:
        if self._process is not None:
            self._is_late = True
            self._process.kill()

    @Slot(QProcess.ProcessError)
    def _fail(self, error: QProcess.ProcessError) -> None:
        # Every other error is followed by `finished`.
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self._answer(_told(_not_started(self._process.errorString())))

    @Slot()
    def _finish(self) -> None:
        process = self._process
        if process is None:
            return
        output = bytes(process.readAllStandardOutput().data())
        log = bytes(process.readAllStandardError().data()).decode(errors="replace")
        if self._is_late:
            self._answer(_told(_too_slow(self._timer.interval() / 1000, log)))
            return
        crashed = process.exitStatus() is QProcess.ExitStatus.CrashExit
        if crashed or process.exitCode() != 0:
            how = "was killed" if crashed else f"ended with exit status {process.exitCode()}"
            self._answer(_told(_died(how, log)))
            return
        try:
            preview = DataPreview.model_validate_json(output)
        except Exception as error:  # noqa: BLE001 - whatever it is, a look would be taken for ever
            preview = _told(_unreadable(f"{error}\n{log}"))
        self._answer(preview)

    def _answer(self, preview: DataPreview) -> None:
        self._drop()
        self.busyChanged.emit(False)
        self.previewReady.emit(preview)

    def _drop(self) -> None:
        """Lets go of the process; one that still runs is killed and goes when it is gone."""
        self._timer.stop()
        process, self._process = self._process, None
        if process is None:
            return
        # One by one: disconnecting from a receiver as a whole makes Qt warn.
        process.started.disconnect(self._ask)
        process.errorOccurred.disconnect(self._fail)
        process.finished.disconnect(self._finish)
        if process.state() is QProcess.ProcessState.NotRunning:
            process.deleteLater()
        else:
            process.finished.connect(process.deleteLater)
            process.kill()


def _environment() -> QProcessEnvironment:
    """As ours, but without a GPU and without TensorFlow's chatter: a look needs neither."""
    variables = child_environment(
        os.environ, {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    )
    # What is the same stays as it is, also where it is no UTF-8.
    environment = QProcessEnvironment.systemEnvironment()
    for name in os.environ.keys() - variables.keys():
        environment.remove(name)
    for name, value in variables.items() - os.environ.items():
        environment.insert(name, value)
    return environment


def _told(problem: Problem) -> DataPreview:
    return DataPreview(problems=(problem,))


def _not_started(why: str) -> Problem:
    return Problem(
        code="preview_not_started",
        severity=Severity.WARNING,
        field="data",
        message="The process that reads the data for the preview could not be started.",
        hint="Repair the installation of gpupanel; the detail says what the system answered.",
        detail=why,
    )


def _too_slow(seconds: float, log: str) -> Problem:
    return Problem(
        code="preview_too_slow",
        severity=Severity.WARNING,
        field="data",
        message=f"Reading the data for the preview took more than {seconds:g} s and was stopped.",
        hint="A run may still read it; a very large file or a slow disk can be the cause.",
        detail=_tail(log),
    )


def _died(how: str, log: str) -> Problem:
    return Problem(
        code="preview_died",
        severity=Severity.WARNING,
        field="data",
        message=f"The process that reads the data for the preview {how}.",
        hint="The data may be damaged or too large for this machine's memory; copy the detail.",
        detail=_tail(log),
    )


def _unreadable(detail: str) -> Problem:
    return Problem(
        code="preview_unreadable",
        severity=Severity.WARNING,
        field="data",
        message="The process that reads the data for the preview gave an unreadable answer.",
        hint="This is a defect of gpupanel; please report it with the detail.",
        detail=_tail(detail),
    )


def _tail(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-_LAST_LINES:])
