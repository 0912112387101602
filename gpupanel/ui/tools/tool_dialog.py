"""A dialog that shows what a tool answers, and how far it is."""

from abc import abstractmethod
from typing import Generic, TypeVar

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.ui.dialogs.report_dialog import ReportDialog

_AnswerT = TypeVar("_AnswerT")
_ProgressT = TypeVar("_ProgressT")


class ToolDialog(ReportDialog, Generic[_AnswerT, _ProgressT]):
    """Shows an answer, and whether another one is being made.

    Args:
        name: As of :class:`ReportDialog`.
        title: Of the window.
        parent: Owns it.
    """

    cancelRequested = Signal()
    """The answer that is being made is not wanted any more."""

    def __init__(self, name: str, title: str, parent: QWidget | None) -> None:
        super().__init__(name, title, parent)
        self._is_busy = False
        self._doing = ""
        """How far it is, in words; empty where that is not known."""

    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        """Show whether one is being made; what is known stays until it is done."""
        self._is_busy, self._doing = busy, ""
        self._progress.setRange(0, 0)
        self._show_state()

    @abstractmethod
    def setAnswer(self, answer: _AnswerT) -> None:
        """Show what was found."""
        ...

    def setProgress(self, progress: _ProgressT) -> None:
        """Show how far it is, where that is known."""

    @abstractmethod
    def _show_state(self) -> None:
        """Title, sentence and buttons, as they are now."""
        ...

    def _add_cancel(self, text: str, tip: str) -> None:
        """The button that ends what is being made, behind those that are there."""
        self._cancel = self._add_button(text, "cancel", tip)
        self._cancel.clicked.connect(self.cancelRequested)
