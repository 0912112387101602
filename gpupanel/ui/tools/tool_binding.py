"""Has a tool asked as a person wishes, and shows in a dialog how far it is and what it answers."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.ui.workers.tool_worker import ToolWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.tool_dialog import ToolDialog

_DialogT = TypeVar("_DialogT", bound="ToolDialog[Any, Any]")


class ToolBinding(QObject):
    """Has one thing asked at a time; what is being asked ends with the window.

    Args:
        worker: Asks the tool.
        parent: Owns both.
    """

    refused = Signal(object)
    """Problems because of which nothing could be asked: a tuple of :class:`Problem`."""

    def __init__(self, worker: ToolWorker, parent: QObject | None) -> None:
        super().__init__(parent)
        self.worker = worker
        worker.setParent(self)
        worker.refused.connect(self.refused)

    def stop(self) -> None:
        """Ask no more; the process that was asked is ended."""
        self.worker.stop()


class ToolDialogBinding(ToolBinding, Generic[_DialogT]):
    """Shows the answer in a dialog; what is being asked ends as that is closed.

    Args:
        worker: Asks the tool.
        window: What the dialog stands before, which stays usable behind it.
    """

    def __init__(self, worker: ToolWorker, window: QWidget) -> None:
        super().__init__(worker, window)
        self._window = window
        self._dialog: _DialogT | None = None

    @override
    def stop(self) -> None:
        if self._dialog is not None:
            self._dialog.close()
        super().stop()

    @abstractmethod
    def _dialog_class(self) -> Callable[[QWidget], _DialogT]:
        """What shows the answer; imported by the first call, as most windows never need it."""
        ...

    def _dialog_made(self) -> _DialogT:
        """The dialog, which the first call makes."""
        if self._dialog is None:
            self._dialog = self._connected(self._dialog_class()(self._window))
        return self._dialog

    def _connected(self, dialog: _DialogT) -> _DialogT:
        dialog.closed.connect(self.worker.cancel)
        dialog.cancelRequested.connect(self.worker.cancel)
        self.worker.progressed.connect(dialog.setProgress)
        self.worker.answered.connect(dialog.setAnswer)
        self.worker.busyChanged.connect(dialog.setBusy)
        return dialog
