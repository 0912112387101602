"""Previews the data that is described, by a process of its own.

The window never imports what reads data sets, so that a damaged file, a slow disk or a crash stays
outside, and a preview that nobody wants any more can be ended at once.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.runs.data_preview import PREVIEW_COMMAND, preview_data
from gpupanel.ui.workers.single_request import SingleRequestFacade

TIME_LIMIT_S = 30.0


class PreviewLoader(SingleRequestFacade):
    """Asks for one preview at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`DataPreview`: a death, a time limit
    or an answer that cannot be read is a problem in it, never silence.
    """

    previewReady = Signal(object)
    """The :class:`DataPreview` of the last request."""

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
        limit_s, command = self._time_limit_s, self._command
        self.carry_out(
            lambda dropped, _: preview_data(request, limit_s, dropped, command),
            self.previewReady.emit,
            # What is known of the data before is not what was asked for.
            failed=lambda problems: DataPreview(problems=problems),
        )
