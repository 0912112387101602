"""A report about what the session would train: it can be fixed, and goes out of date."""

from typing import Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Problem
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.tool_dialog import ToolDialog
from gpupanel.ui.widgets.problem_row import ProblemRow

_AnswerT = TypeVar("_AnswerT")
_ProgressT = TypeVar("_ProgressT")


class SessionReportDialog(ToolDialog[_AnswerT, _ProgressT], Generic[_AnswerT, _ProgressT]):
    """Shows problems with their fixes, and whether what it shows is outdated.

    Args:
        name: As of :class:`ReportDialog`.
        title: Of the window.
        again: What the button that makes it again says, and its tooltip.
        parent: Owns it.
    """

    requested = Signal()
    """A person wants it to be made again."""
    fixRequested = Signal(object)
    """The button of a fix was pressed: the :class:`Fix`."""
    fieldActivated = Signal(str)
    """A problem was clicked: the profile key that it is about."""

    def __init__(
        self, name: str, title: str, again: tuple[str, str], parent: QWidget | None
    ) -> None:
        super().__init__(name, title, parent)
        self._is_outdated = False
        text, tip = again
        self._again = self._add_button(text, "again", tip)
        self._again.clicked.connect(self.requested)

    def setLabels(self, labels: DeviceLabels) -> None:
        """How devices are called and which colours they have, where it names any."""

    def setOutdated(self, outdated: bool) -> None:
        """Show that the settings are other ones than those that it was made of."""
        if outdated != self._is_outdated:
            self._is_outdated = outdated
            self._show_state()

    def _row(self, problem: Problem) -> ProblemRow:
        row = ProblemRow(problem)
        row.fixRequested.connect(self.fixRequested)
        row.fieldActivated.connect(self.fieldActivated)
        return row
