"""Has the session's model built when the page asks for it, and shows its layers."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.model_summary import SummaryRequest, summary_request
from gpupanel.domain.profile import Profile
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.summary_worker import ModelSummarizer

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.layers_dialog import LayersDialog


class LayersBinding(SessionReportBinding["LayersDialog", SummaryRequest]):
    """Opens the dialog, and has the model built as it is chosen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        summarizer: Builds the model.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        summarizer: ModelSummarizer | None = None,
    ) -> None:
        self._summarizer = summarizer or ModelSummarizer()
        super().__init__(session, page, window, self._summarizer)
        page.model.layersRequested.connect(self.open)

    @override
    def _new_dialog(self) -> "LayersDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.layers_dialog import LayersDialog

        dialog = LayersDialog(self._window)
        self._summarizer.summarized.connect(dialog.setSummary)
        return dialog

    @override
    def _request_of(self, profile: Profile) -> SummaryRequest:
        return summary_request(profile)

    @override
    def _begin(self, request: SummaryRequest) -> None:
        self._summarizer.begin(request)
