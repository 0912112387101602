"""A report about what the session would train: it can be fixed, and goes out of date."""

from abc import abstractmethod
from typing import Generic, TypeVar

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Problem
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.dialogs.report_dialog import ReportDialog
from gpupanel.ui.widgets.problem_row import ProblemRow

_AnswerT = TypeVar("_AnswerT")
_ProgressT = TypeVar("_ProgressT")


class SessionReportDialog(ReportDialog, Generic[_AnswerT, _ProgressT]):
    """Shows problems with their fixes, whether it is being made, and whether it is outdated.

    Args:
        name: As of :class:`ReportDialog`.
        title: Of the window.
        again: What the button that makes it again says, and its tooltip.
        parent: Owns it.
    """

    requested = Signal()
    """A person wants it to be made again."""
    cancelRequested = Signal()
    """The one that is being made is not wanted any more."""
    fixRequested = Signal(object)
    """The button of a fix was pressed: the :class:`Fix`."""
    fieldActivated = Signal(str)
    """A problem was clicked: the profile key that it is about."""

    def __init__(
        self, name: str, title: str, again: tuple[str, str], parent: QWidget | None
    ) -> None:
        super().__init__(name, title, parent)
        self._is_busy = False
        self._is_outdated = False
        text, tip = again
        self._again = self._add_button(text, "again", tip)
        self._again.clicked.connect(self.requested)

    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        """Show whether it is being made; what is known stays until it is done."""
        self._is_busy = busy
        self._show_state()

    @abstractmethod
    def setAnswer(self, answer: _AnswerT) -> None:
        """Show what was found."""
        ...

    def setProgress(self, progress: _ProgressT) -> None:
        """Show how far it is, where that is known."""

    def setLabels(self, labels: DeviceLabels) -> None:
        """How devices are called and which colours they have, where it names any."""

    def setOutdated(self, outdated: bool) -> None:
        """Show that the settings are other ones than those that it was made of."""
        if outdated != self._is_outdated:
            self._is_outdated = outdated
            self._show_state()

    @abstractmethod
    def _show_state(self) -> None:
        """Title, sentence and buttons, as they are now."""
        ...

    def _row(self, problem: Problem) -> ProblemRow:
        row = ProblemRow(problem)
        row.fixRequested.connect(self.fixRequested)
        row.fieldActivated.connect(self.fieldActivated)
        return row
