"""Has a tool asked about what the session would train, and shows its answer in a dialog."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import SignalInstance, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.tool_binding import ToolDialogBinding
from gpupanel.ui.workers.tool_worker import Ask, ToolWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.session_report_dialog import SessionReportDialog

_DialogT = TypeVar("_DialogT", bound="SessionReportDialog[Any, Any]")
_RequestT = TypeVar("_RequestT", bound=Value)


class SessionReportBinding(ToolDialogBinding[_DialogT], Generic[_DialogT, _RequestT]):
    """Opens the dialog, has the tool asked, and carries out what fixes a problem in its answer.

    A tool says which dialog shows its answer, what it is asked of a profile, and how.

    Args:
        page: Shows a setting that a problem is about.
        window: What the dialog stands before.
        worker: Asks the tool.
        opened_by: A person wants to see the answer.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        worker: ToolWorker,
        opened_by: SignalInstance,
    ) -> None:
        super().__init__(worker, window)
        self._session, self._page = session, page
        self._request: _RequestT | None = None
        opened_by.connect(self.open)
        session.profileChanged.connect(self._see_profile)

    @Slot()
    def open(self) -> None:
        """Show the dialog, and ask about what is chosen now."""
        dialog = self._dialog_made()
        dialog.setLabels(DeviceLabels(self._session.inventory))
        self._prepare(dialog)
        dialog.show()
        dialog.activateWindow()
        self._make()

    @abstractmethod
    def _request_of(self, profile: Profile) -> _RequestT:
        """What is asked about that profile; the answer is outdated once it is another."""
        ...

    @abstractmethod
    def _ask(self, request: _RequestT) -> Ask:
        """How the tool is asked for that."""
        ...

    def _prepare(self, dialog: _DialogT) -> None:
        """Called before the dialog is opened."""

    @override
    def _connected(self, dialog: _DialogT) -> _DialogT:
        dialog.requested.connect(self._make)
        dialog.fixRequested.connect(self._apply)
        dialog.fieldActivated.connect(self._page.go_to_field)
        return super()._connected(dialog)

    @Slot()
    def _make(self) -> None:
        self._request = self._request_of(self._session.profile)
        self.worker.begin(self._ask(self._request))

    @Slot(object)
    def _apply(self, fix: Fix) -> None:
        self._session.apply_fix(fix)
        self._make()

    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.setOutdated(self._request_of(profile) != self._request)
