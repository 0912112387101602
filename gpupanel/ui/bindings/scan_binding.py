"""Scans the session's data when the page asks for it, and shows what is in it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest, scan_request
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.scan_worker import DataScanner

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.scan_dialog import ScanDialog


class ScanBinding(QObject):
    """Opens the dialog, has the data scanned, and carries out what mends it.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        scanner: Scans the data.
    """

    refused = Signal(object)
    """Problems because of which nothing could be scanned: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        scanner: DataScanner | None = None,
    ) -> None:
        super().__init__(window)
        self._session, self._page, self._window = session, page, window
        self._scanner = scanner or DataScanner(parent=self)
        self._scanner.refused.connect(self.refused)
        self._dialog: ScanDialog | None = None
        self._scanned: ScanRequest | None = None
        page.data.scanRequested.connect(self.open_scan)
        session.profileChanged.connect(self._see_profile)

    @Slot()
    def open_scan(self) -> None:
        """Show the dialog, and scan the data as it is chosen now."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        request = scan_request(self._session.profile)
        if self._scanned is None or request.data != self._scanned.data:
            self._dialog.forget()
        self._dialog.show()
        self._dialog.activateWindow()
        self._begin()

    def stop(self) -> None:
        """Scan no more; the process that did is ended."""
        if self._dialog is not None:
            self._dialog.close()
        self._scanner.stop()

    def _new_dialog(self) -> "ScanDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.scan_dialog import ScanDialog

        dialog = ScanDialog(self._window)
        dialog.scanRequested.connect(self._begin)
        dialog.cancelRequested.connect(self._scanner.cancel)
        dialog.closed.connect(self._scanner.cancel)
        dialog.fixRequested.connect(self._apply)
        dialog.fieldActivated.connect(self._page.go_to_field)
        self._scanner.busyChanged.connect(dialog.setBusy)
        self._scanner.progressed.connect(dialog.setProgress)
        self._scanner.partScanned.connect(dialog.setScan)
        self._scanner.scanned.connect(dialog.setScan)
        return dialog

    @Slot()
    def _begin(self) -> None:
        self._scanned = scan_request(self._session.profile)
        self._scanner.begin(self._scanned)

    @Slot(object)
    def _apply(self, fix: Fix) -> None:
        """What the cache remembers makes the next scan a quick one."""
        self._session.apply_fix(fix)
        self._begin()

    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.setOutdated(scan_request(profile) != self._scanned)
