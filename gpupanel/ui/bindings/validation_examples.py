"""The validation examples of the run that is shown, read while somebody looks at them."""

from functools import partial

from PySide6.QtCore import QObject, QTimer, Slot
from typing_extensions import override

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.following.validation_history import ValidationHistory, read_validation_history
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.evaluations.page import EvaluationsPage
from gpupanel.ui.workers.facade import WorkerFacade

_PAUSE_MS = 500
"""Epochs may be shorter than anybody looks at one."""


class ValidationExamples(WorkerFacade):
    """Reads them again after an epoch, at most some times a second.

    Args:
        control: Knows the run that is shown.
        page: Shows them.
        parent: The window.
    """

    def __init__(self, control: RunControl, page: EvaluationsPage, parent: QObject) -> None:
        super().__init__("read validation examples", parent)
        self._control, self._page = control, page
        self._read_at: object = None
        self._is_stopped = False
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._update)
        control.shownChanged.connect(self._begin)
        control.shownStatusChanged.connect(self._update)
        page.seen.connect(self._update)

    @override
    def stop(self) -> None:
        self._is_stopped = True
        self._pause.stop()
        super().stop()

    @Slot()
    def _begin(self) -> None:
        """Another run is shown."""
        self.drop()
        self._pause.stop()
        self._read_at = None
        self._page.setHistory(ValidationHistory())

    @Slot()
    def _update(self) -> None:
        layout, status = self._control.shown, self._control.shown_status
        if layout is None or status is None or not self._page.isVisible():
            return
        if self._is_stopped or self._pause.isActive():
            return
        # An epoch that is done has metrics; what ends a run may come after its last one.
        at = layout, status.metrics, status.epoch, status.has_ended
        if at == self._read_at:
            return
        self._pause.start()
        if not self.is_busy():
            self._read_at = at
            self.submit(partial(_read, layout), self._page.setHistory, self._page.setProblems)


def _read(layout: RunLayout) -> ValidationHistory:
    try:
        return read_validation_history(layout)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.validation_examples)) from error
