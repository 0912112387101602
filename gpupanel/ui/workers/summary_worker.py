"""Has a model built by a process of its own, which lists its layers."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.runs.model_summary import SUMMARY_COMMAND, TIME_LIMIT_S, summarize_model
from gpupanel.ui.workers.single_request import SingleRequestFacade


class ModelSummarizer(SingleRequestFacade):
    """One model at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`ModelSummary`: a death or an answer
    that cannot be read is a problem in it.
    """

    summarized = Signal(object)
    """The :class:`ModelSummary` of the last request."""

    def __init__(
        self, command: Sequence[str] = SUMMARY_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("summary", parent)
        self._command = command

    def begin(self, request: SummaryRequest) -> None:
        """Build that; ends what was built before, whose answer will not come."""
        command = self._command
        self.carry_out(
            lambda dropped, _: summarize_model(request, TIME_LIMIT_S, dropped, command),
            self.summarized.emit,
            failed=lambda problems: ModelSummary(problems=problems),
        )
