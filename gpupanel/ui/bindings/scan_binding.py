"""Scans the session's data when the page asks for it, and shows what is in it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest, scan_request
from gpupanel.runs.tools.data_scan import scan_data
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.tool_worker import QuestionWorker

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.scan_dialog import ScanDialog


class ScanBinding(SessionReportBinding["ScanDialog", ScanRequest]):
    """Opens the dialog, has the data scanned, and carries out what corrects it.

    After a fix the next scan is a quick one: the cache remembers what was seen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        scanner: Scans the data.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        scanner: QuestionWorker[ScanRequest] | None = None,
    ) -> None:
        self._scanner = scanner or QuestionWorker(scan_data)
        super().__init__(session, page, window, self._scanner)
        page.data.scanRequested.connect(self.open)

    @override
    def _new_dialog(self) -> "ScanDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.scan_dialog import ScanDialog

        dialog = ScanDialog(self._window)
        dialog.cancelRequested.connect(self._scanner.cancel)
        self._scanner.progressed.connect(self._show_progress)
        self._scanner.answered.connect(dialog.setScan)
        return dialog

    @override
    def _prepare(self, dialog: "ScanDialog") -> None:
        request = self._request_of(self._session.profile)
        if self._request is None or request.data != self._request.data:
            dialog.forget()

    @override
    def _request_of(self, profile: Profile) -> ScanRequest:
        return scan_request(profile)

    @override
    def _begin(self, request: ScanRequest) -> None:
        self._scanner.ask(request)

    @Slot(object)
    def _show_progress(self, news: ScanProgress | DataScan) -> None:
        if self._dialog is None:
            return
        if isinstance(news, ScanProgress):
            self._dialog.setProgress(news)
        else:
            self._dialog.setScan(news)
