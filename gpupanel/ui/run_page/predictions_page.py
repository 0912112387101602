"""The tab Predict: single examples, and the runs that predict on many."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage
from gpupanel.ui.run_page.predict.area import SingleExamples
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.page_scroll import PageScroll


class PredictionsPage(ModelRunsPage):
    """Shows single examples as long as no run of predictions is looked at.

    Attributes:
        single: Where they are given and answered.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        single = SingleExamples()
        # Its least size is more than a small window has.
        place = PageScroll("Single examples")
        place.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        column_in(place.page).addWidget(single)
        super().__init__("predict", parent, resting=place)
        self.single = single
        single.kindChanged.connect(self._show_kind)

    @Slot()
    def _show_kind(self) -> None:
        self.setResting(may_rest=self.single.kind is not AskedKind.NONE)
