"""Has a report made of what the session would train, and shows it in a dialog."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.single_request import SingleRequestFacade

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.session_report_dialog import SessionReportDialog

_DialogT = TypeVar("_DialogT", bound="SessionReportDialog")
_RequestT = TypeVar("_RequestT", bound=Value)


class SessionReportBinding(QObject, Generic[_DialogT, _RequestT]):
    """Opens the dialog, has the report made, and carries out what fixes a problem in it.

    Args:
        page: Shows a setting that a problem is about.
        window: What the dialog stands before.
        worker: Makes the report.
    """

    refused = Signal(object)
    """Problems because of which none could be made: a tuple of :class:`Problem`."""

    def __init__(
        self, session: Session, page: SessionPage, window: QWidget, worker: SingleRequestFacade
    ) -> None:
        super().__init__(window)
        worker.setParent(self)
        self._session, self._page, self._window, self._worker = session, page, window, worker
        self._dialog: _DialogT | None = None
        self._request: _RequestT | None = None
        worker.refused.connect(self.refused)
        session.profileChanged.connect(self._see_profile)

    @Slot()
    def open(self) -> None:
        """Show the dialog, and make the report of what is chosen now."""
        if self._dialog is None:
            self._dialog = self._connected(self._new_dialog())
        self._prepare(self._dialog)
        self._dialog.show()
        self._dialog.activateWindow()
        self._make()

    def stop(self) -> None:
        """Make no more of them; the process that did is ended."""
        if self._dialog is not None:
            self._dialog.close()
        self._worker.stop()

    @abstractmethod
    def _new_dialog(self) -> _DialogT:
        """The dialog, connected with what the worker says; most windows never need it."""
        ...

    @abstractmethod
    def _request_of(self, profile: Profile) -> _RequestT:
        """What the report of that profile is made of."""
        ...

    @abstractmethod
    def _begin(self, request: _RequestT) -> None:
        """Have that made by the worker."""
        ...

    def _prepare(self, dialog: _DialogT) -> None:
        """Called before the dialog is opened."""

    def _connected(self, dialog: _DialogT) -> _DialogT:
        dialog.requested.connect(self._make)
        dialog.closed.connect(self._worker.cancel)
        dialog.fixRequested.connect(self._apply)
        dialog.fieldActivated.connect(self._page.go_to_field)
        self._worker.busyChanged.connect(dialog.setBusy)
        return dialog

    @Slot()
    def _make(self) -> None:
        self._request = self._request_of(self._session.profile)
        self._begin(self._request)

    @Slot(object)
    def _apply(self, fix: Fix) -> None:
        self._session.apply_fix(fix)
        self._make()

    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.setOutdated(self._request_of(profile) != self._request)
