"""Has batches tried by processes of their own, and reports how far it is."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.batch_fit import BatchFit
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.domain.profile import Profile
from gpupanel.runs.batch_search import BATCH_SEARCH_COMMAND, SECONDS, find_batches
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.model_summary import summarize_model
from gpupanel.runs.tools.question import Question
from gpupanel.ui.workers.single_request import SingleRequestFacade


class BatchFinder(SingleRequestFacade):
    """One search at a time; a new request ends the one before.

    Whatever becomes of the processes, the answer is a :class:`BatchFit`: what went wrong is a
    problem in it.
    """

    found = Signal(object)
    """The :class:`BatchFit` of the last request."""
    progressed = Signal(object)
    """How far it is: a :class:`BatchProgress`."""

    def __init__(
        self,
        command: Sequence[str] = BATCH_SEARCH_COMMAND,
        summarize: Question[SummaryRequest, ModelSummary] = summarize_model,
        parent: QObject | None = None,
    ) -> None:
        super().__init__("batch search", parent)
        self._command, self._summarize = command, summarize

    def begin(self, profile: Profile, machine: Machine) -> None:
        """Try batches of that profile on its devices; ends a search that goes on."""
        command, summarize = self._command, self._summarize
        self.carry_out(
            lambda dropped, report: find_batches(
                profile, machine, SECONDS, dropped, report, command, summarize
            ),
            self.found.emit,
            failed=lambda problems: BatchFit(problems=problems),
            report=self.progressed.emit,
        )
