"""A data set that is not on this machine yet: a button that downloads it, and how far it is."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from gpupanel.domain.data_download import DownloadProgress
from gpupanel.ui import formatting
from gpupanel.ui.widgets.layouts import row_in

_STEPS = 1000


class DownloadRow(QWidget):
    """A button with the size; while it downloads, a bar and a button that ends it."""

    downloadRequested = Signal()
    """The data is to be downloaded."""
    cancelRequested = Signal()
    """The download that goes on is not wanted any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = ""
        self._download = QPushButton()
        self._download.setObjectName("download_button")
        self._download.setToolTip("Downloads it now, once, into Keras's cache.")
        self._bar = QProgressBar()
        self._bar.setObjectName("download_progress")
        self._bar.setTextVisible(False)
        self._words = QLabel()
        self._words.setProperty("tone", "muted")
        self._cancel = QPushButton("S&top")
        self._cancel.setObjectName("download_cancel")
        self._cancel.setToolTip("Ends the download and discards what it has received.")
        layout = row_in(self)
        layout.addWidget(self._download)
        layout.addWidget(self._bar, 1)
        layout.addWidget(self._words)
        layout.addWidget(self._cancel)
        layout.addStretch(0)
        self._download.clicked.connect(self.downloadRequested)
        self._cancel.clicked.connect(self.cancelRequested)
        self.set_size(0)
        self.setBusy(False)

    def set_size(self, size_bytes: int) -> None:
        """Says how much there is to download; 0: nobody knows."""
        # None is nothing: 57 kB are 1 MiB here.
        self._size = _size(max(2**20, size_bytes)) if size_bytes else ""
        self._download.setText(f"Down&load {self._size}".strip())

    def setBusy(self, busy: bool) -> None:
        """Shows whether a download goes on."""
        self._download.setVisible(not busy)
        for part in (self._bar, self._words, self._cancel):
            part.setVisible(busy)
        self._bar.setRange(0, 0)
        self._words.setText("Connecting…")

    def setProgress(self, progress: DownloadProgress) -> None:
        """Shows how far it is."""
        total = progress.total or 0
        # A bar counts with 32 bits.
        self._bar.setRange(0, _STEPS if total > 0 else 0)
        if total > 0:
            self._bar.setValue(min(_STEPS, _STEPS * progress.done // total))
        of = f" of {_size(total)}" if total > 0 else ""
        self._words.setText(f"{_size(progress.done)}{of}")


def _size(size_bytes: int) -> str:
    return formatting.mib(size_bytes / 2**20)
