"""Downloads the session's data set when the page asks for it, and previews it then."""

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.problem import Problem
from gpupanel.runs.questions.data_download import download_data
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.tool_binding import ToolBinding
from gpupanel.ui.workers.tool_worker import QuestionWorker

_ANOTHER_GOES_ON = Problem(
    code="download_goes_on",
    field="data.source",
    message="Another data set is being downloaded; only one can be at a time.",
    hint="Wait until it is done; or choose that data set again, and stop its download.",
)


class DownloadBinding(ToolBinding):
    """Connects the button of the data panel with the process that downloads.

    Args:
        page: Asks, and previews what was downloaded.
    """

    worker: QuestionWorker[DownloadRequest]

    def __init__(self, session: Session, page: SessionPage, parent: QObject | None = None) -> None:
        super().__init__(QuestionWorker(download_data), parent)
        self._session, self._page = session, page
        self._fetched = session.profile.data.downloads
        self._is_busy = self._shows_busy = False
        page.data.preview.download.downloadRequested.connect(self._begin)
        page.data.preview.download.cancelRequested.connect(self.worker.cancel)
        self.worker.busyChanged.connect(self._take_busy)
        self.worker.progressed.connect(self._show_progress)
        session.profileChanged.connect(self._show_busy)
        self.worker.answered.connect(self._take_end)

    @Slot()
    def _begin(self) -> None:
        data = self._session.profile.data
        if self._is_busy:
            self.refused.emit((_ANOTHER_GOES_ON,))
            return
        self._fetched = data.downloads
        self.worker.ask(DownloadRequest(data=data))

    @Slot(bool)
    def _take_busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        self._show_busy()

    @Slot()
    def _show_busy(self) -> None:
        """Another data set that is chosen meanwhile is not the one that is being downloaded."""
        shows_busy = self._is_busy and self._is_shown()
        if shows_busy is not self._shows_busy:
            self._shows_busy = shows_busy
            self._page.data.setDownloading(shows_busy)

    @Slot(object)
    def _show_progress(self, progress: DownloadProgress) -> None:
        if self._is_shown():
            self._page.data.setDownloadProgress(progress)

    def _is_shown(self) -> bool:
        return self._session.profile.data.downloads == self._fetched

    @Slot(object)
    def _take_end(self, end: DownloadEnd) -> None:
        if end.problems:
            self.refused.emit(end.problems)
        else:
            self._page.preview_again()
