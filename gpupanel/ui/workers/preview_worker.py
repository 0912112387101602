"""Previews the data that is described, by a process of its own.

The window never imports what reads data sets, so that a damaged file, a slow disk or a crash stays
outside, and a preview that nobody wants any more can be ended at once.
"""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.data_preview import PREVIEW_COMMAND, preview_data
from gpupanel.ui.workers.facade import WorkerFacade

TIME_LIMIT_S = 30.0


class PreviewLoader(WorkerFacade):
    """Asks for one preview at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataPreview`: a death, a time limit
    or an answer that cannot be read is a problem in it, never silence.
    """

    previewReady = Signal(object)
    """The :class:`DataPreview` of the last request."""
    busyChanged = Signal(bool)
    """Whether a preview is being made."""

    def __init__(
        self,
        command: Sequence[str] = PREVIEW_COMMAND,
        *,
        time_limit_s: float = TIME_LIMIT_S,
        parent: QObject | None = None,
    ) -> None:
        super().__init__("preview", parent)
        self._command = command
        self._time_limit_s = time_limit_s

    def load(self, request: PreviewRequest) -> None:
        """Preview that; ends the preview before, whose answer will not come."""
        was_busy = self.is_busy()
        self.drop()
        work = partial(preview_data, request, self._time_limit_s, self.dropped, self._command)
        self.submit(work, self._take_preview)
        if not was_busy:
            self.busyChanged.emit(True)

    @override
    def stop(self) -> None:
        """End the preview that is being made, if any, and leave no process behind."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)
        super().stop()

    def _take_preview(self, preview: DataPreview) -> None:
        self.busyChanged.emit(False)
        self.previewReady.emit(preview)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        # What is known of the data before is not what was asked for.
        self._take_preview(DataPreview(problems=problems))
        super()._on_failed(problems)
