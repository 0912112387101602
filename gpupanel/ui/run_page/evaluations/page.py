"""The tab Evaluation."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.runs.following.validation_history import ValidationHistory
from gpupanel.ui.run_page.evaluations.validation_view import ValidationView
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage


class EvaluationsPage(ModelRunsPage):
    """Shows validation examples as long as no evaluation is looked at.

    Attributes:
        validation: Where these are; a run that validates nothing has none.
    """

    seen = Signal()
    """A person sees the tab now."""

    def __init__(self, parent: QWidget | None = None) -> None:
        validation = ValidationView()
        super().__init__("evaluate", parent, resting=validation)
        self.validation = validation

    def setHistory(self, history: ValidationHistory) -> None:
        """Show what the run says of its validation examples."""
        self.validation.setHistory(history)
        self.setResting(may_rest=self.validation.has_examples)

    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Say why that cannot be read."""
        self.validation.setProblems(problems)
        self.setResting(may_rest=True)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit()
