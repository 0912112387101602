"""Has learning rates tried when the page asks for it, and shows what became of the loss."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import RateRange, RateRangeRequest, rate_range_request
from gpupanel.runs.questions.question import Question
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.tool_worker import Ask, QuestionWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.rate_range.dialog import RateRangeDialog


class RateRangeBinding(SessionReportBinding["RateRangeDialog", RateRangeRequest]):
    """Opens the dialog, has the rates tried, and takes over the one that is chosen."""

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        question: Question[RateRangeRequest, RateRange] = try_learning_rates,
    ) -> None:
        self._question = question
        worker = QuestionWorker(question)
        super().__init__(session, page, window, worker, page.training.ratesRequested)

    @override
    def _dialog_class(self) -> "type[RateRangeDialog]":
        from gpupanel.ui.tools.rate_range.dialog import RateRangeDialog

        return RateRangeDialog

    @override
    def _connected(self, dialog: "RateRangeDialog") -> "RateRangeDialog":
        dialog.rateChosen.connect(self._use)
        return super()._connected(dialog)

    @override
    def _request_of(self, profile: Profile) -> RateRangeRequest:
        return rate_range_request(profile)

    @override
    def _ask(self, request: RateRangeRequest) -> Ask:
        plan = self._session.preparation.plan
        # It is tried here, whatever machines the profile trains on.
        is_here = plan is not None and not plan.is_on_nodes
        device = plan.replicas[0].device_key if plan is not None and is_here else CPU_KEY
        return partial(self._question, request, device)

    @Slot(float)
    def _use(self, rate: float) -> None:
        profile = self._session.profile
        training = profile.training.model_copy(update={"learning_rate": rate})
        self._session.edit(profile.model_copy(update={"training": training}))
