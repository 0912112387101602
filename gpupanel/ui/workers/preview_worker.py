"""Previews the data that is described, by a process of its own that a worker waits for.

The window never imports what reads data sets, so that a damaged file, a slow disk or a crash stays
outside, and a preview that nobody wants any more can be ended at once.
"""

from collections.abc import Sequence
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.data_preview import PREVIEW_COMMAND, preview_data
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot

TIME_LIMIT_S = 30.0


class _Previewer(Worker):
    previewed = Signal(object, object)

    def __init__(self, command: Sequence[str], time_limit_s: float) -> None:
        super().__init__()
        self._command = command
        self._time_limit_s = time_limit_s

    @guarded_slot(object, object)
    def preview(self, request: PreviewRequest, cancelled: Event) -> None:
        if cancelled.is_set():
            return
        try:
            preview = preview_data(request, self._time_limit_s, cancelled, self._command)
        except Exception:
            if cancelled.is_set():
                return  # nobody wants it any more, and another one may have begun
            raise
        self.previewed.emit(preview, cancelled)


class PreviewLoader(WorkerFacade):
    """Asks for one preview at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataPreview`: a death, a time limit
    or an answer that cannot be read is a problem in it, never silence.
    """

    previewReady = Signal(object)
    """The :class:`DataPreview` of the last request."""
    busyChanged = Signal(bool)
    """Whether a preview is being made."""
    _asked = Signal(object, object)

    def __init__(
        self,
        command: Sequence[str] = PREVIEW_COMMAND,
        *,
        time_limit_s: float = TIME_LIMIT_S,
        parent: QObject | None = None,
    ) -> None:
        self._previewer = _Previewer(command, time_limit_s)
        super().__init__(self._previewer, "preview", parent)
        self._asked.connect(self._previewer.preview)
        self._previewer.previewed.connect(self._take_preview)
        self._cancelled: Event | None = None

    def is_busy(self) -> bool:
        """Whether a preview is being made."""
        return self._cancelled is not None

    def load(self, request: PreviewRequest) -> None:
        """Preview that; ends the preview before, whose answer will not come."""
        before, self._cancelled = self._cancelled, Event()
        if before is not None:
            before.set()
        self._thread.start()
        self._asked.emit(request, self._cancelled)
        if before is None:
            self.busyChanged.emit(True)

    @override
    def stop(self) -> None:
        """End the preview that is being made, if any, and leave no process behind."""
        if self._cancelled is not None:
            self._cancelled.set()
            self._end()
        super().stop()

    @Slot(object, object)
    def _take_preview(self, preview: DataPreview, cancelled: Event) -> None:
        if cancelled is self._cancelled:
            self._end()
            self.previewReady.emit(preview)

    @Slot(str, object)
    @override
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        if self._cancelled is not None:
            self._end()
        super()._on_failed(slot, problems)

    def _end(self) -> None:
        self._cancelled = None
        self.busyChanged.emit(False)
