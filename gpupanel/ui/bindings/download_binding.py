"""Downloads the session's data set when the page asks for it, and previews it then."""

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.data_download import DownloadEnd, DownloadRequest
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.download_worker import DataDownloader


class DownloadBinding(QObject):
    """Connects the button of the data panel with the process that downloads.

    Args:
        page: Asks, and previews what was downloaded.
        downloader: Downloads it.
    """

    refused = Signal(object)
    """Problems because of which nothing could be downloaded: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        downloader: DataDownloader | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._page = session, page
        self._downloader = downloader or DataDownloader(parent=self)
        page.data.downloadRequested.connect(self._begin)
        page.data.downloadCancelled.connect(self._downloader.cancel)
        self._downloader.busyChanged.connect(page.data.setDownloading)
        self._downloader.progressed.connect(page.data.setDownloadProgress)
        self._downloader.ended.connect(self._take_end)
        self._downloader.refused.connect(self.refused)

    def stop(self) -> None:
        """Download no more; the process that did is ended."""
        self._downloader.stop()

    @Slot()
    def _begin(self) -> None:
        self._downloader.begin(DownloadRequest(data=self._session.profile.data))

    @Slot(object)
    def _take_end(self, end: DownloadEnd) -> None:
        if end.problems:
            self.refused.emit(end.problems)
        else:
            self._page.preview_again()
