"""Has the session's data scanned when the page asks for it, and shows what is in it."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import DataScan, ScanRequest, scan_request
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.runs.questions.question import Question
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.tool_worker import Ask, QuestionWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.scan.dialog import ScanDialog


class ScanBinding(SessionReportBinding["ScanDialog", ScanRequest]):
    """Opens the dialog, has the data scanned, and carries out what corrects it.

    After a fix the next scan is a quick one: the cache remembers what was seen.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        question: Question[ScanRequest, DataScan] = scan_data,
    ) -> None:
        self._question = question
        asked = page.data.preview.scanRequested
        super().__init__(session, page, window, QuestionWorker(question), asked)

    @override
    def _dialog_class(self) -> "type[ScanDialog]":
        from gpupanel.ui.tools.scan.dialog import ScanDialog

        return ScanDialog

    @override
    def _prepare(self, dialog: "ScanDialog") -> None:
        request = self._request_of(self._session.profile)
        if self._request is None or request.data != self._request.data:
            dialog.forget()

    @override
    def _request_of(self, profile: Profile) -> ScanRequest:
        return scan_request(profile)

    @override
    def _ask(self, request: ScanRequest) -> Ask:
        return partial(self._question, request)
