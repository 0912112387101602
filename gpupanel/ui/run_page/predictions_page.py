"""The tab Predict: single examples, and the runs that predict on many."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.asked_prediction import AskedKind
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage
from gpupanel.ui.run_page.predict.area import SingleExamples


class PredictionsPage(ModelRunsPage):
    """Shows single examples as long as no run of predictions is looked at.

    Attributes:
        single: Where they are given and answered.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        single = SingleExamples()
        super().__init__("predict", parent, resting=single)
        self.single = single
        single.kindChanged.connect(self._show_kind)

    @Slot()
    def _show_kind(self) -> None:
        self.setResting(may_rest=self.single.kind is not AskedKind.NONE)
