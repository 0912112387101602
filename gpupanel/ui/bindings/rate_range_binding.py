"""Has learning rates tried when the page asks for it, and shows what became of the loss."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import RateRangeRequest, rate_range_request
from gpupanel.runs.tools.rate_range import try_learning_rates
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.tool_worker import QuestionWorker

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.rate_range_dialog import RateRangeDialog


class RateRangeBinding(SessionReportBinding["RateRangeDialog", RateRangeRequest]):
    """Opens the dialog, has the rates tried, and takes over the one that is chosen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        finder: Tries them.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        finder: QuestionWorker[RateRangeRequest] | None = None,
    ) -> None:
        self._finder = finder or QuestionWorker(try_learning_rates)
        super().__init__(session, page, window, self._finder)
        page.training.ratesRequested.connect(self.open)

    @override
    def _new_dialog(self) -> "RateRangeDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.rate_range_dialog import RateRangeDialog

        dialog = RateRangeDialog(self._window)
        dialog.cancelRequested.connect(self._finder.cancel)
        dialog.rateChosen.connect(self._use)
        self._finder.answered.connect(dialog.setRange)
        return dialog

    @override
    def _request_of(self, profile: Profile) -> RateRangeRequest:
        return rate_range_request(profile)

    @override
    def _begin(self, request: RateRangeRequest) -> None:
        plan = self._session.preparation.plan
        # It is tried here, whatever machines the profile trains on.
        is_here = plan is not None and not plan.is_on_nodes
        device = plan.replicas[0].device_key if plan is not None and is_here else CPU_KEY
        self._finder.ask(request, device)

    @Slot(float)
    def _use(self, rate: float) -> None:
        profile = self._session.profile
        training = profile.training.model_copy(update={"learning_rate": rate})
        self._session.edit(profile.model_copy(update={"training": training}))
