"""Has the session's model built when the page asks for it: its layers, and the memory it takes."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.model_summary import (
    ModelSummary,
    SummaryRequest,
    summary_request,
    summary_sentence,
)
from gpupanel.domain.profile import Profile
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_tool_binding import SessionTool, SessionToolBinding
from gpupanel.ui.workers.tool_worker import Ask

if TYPE_CHECKING:
    from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog


FOLLOW_DELAY_MS = 1000
"""After the last change: building takes seconds of a processor."""


def _dialog() -> "type[LayersDialog]":
    from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog

    return LayersDialog


class LayersBinding(SessionToolBinding[SummaryRequest]):
    """Opens the dialog, or estimates memory; both have the model built as it is chosen.

    Once somebody has asked for an estimate, every model that is chosen later is built, too.
    """

    def __init__(
        self, session: Session, page: SessionPage, window: QWidget, tool: SessionTool
    ) -> None:
        super().__init__(session, page, window, tool)
        self._follows = False
        self._timer = QTimer(self, singleShot=True, interval=FOLLOW_DELAY_MS)
        self._timer.timeout.connect(self._make)
        page.plan.estimate.requested.connect(self._estimate)
        page.strategy.layersRequested.connect(self._make)
        self.worker.answered.connect(self._take)
        self.worker.busyChanged.connect(page.plan.estimate.setBusy)

    @override
    def stop(self) -> None:
        self._timer.stop()
        super().stop()

    @override
    def _ask(self, request: SummaryRequest) -> Ask:
        self._timer.stop()
        return super()._ask(request)

    @Slot()
    def _estimate(self) -> None:
        self._follows = True
        self._make()

    @Slot(object)
    def _take(self, summary: ModelSummary) -> None:
        if self._request is None:
            return
        self._session.set_step_memory(self._request, summary.step)
        self._page.set_built_layers(self._request, summary)
        sentence = summary_sentence(summary)
        if summary.problems:
            sentence = summary.problems[0].message
        if not summary.layers:
            self._page.strategy.setLayersProblem(sentence)
        problem = "" if summary.step is not None or summary.layers else sentence
        model = sentence if summary.layers else ""
        self._page.plan.estimate.setAnswer(is_answered=True, problem=problem, model=model)

    @override
    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        super()._see_profile(profile)
        if self._request_of(profile) == self._request:
            return
        self._page.plan.estimate.setAnswer(is_answered=False)
        trains = profile.task == "train"
        if self._follows and trains:
            self._timer.start()


TOOL: Final = SessionTool(
    question=summarize_model,
    request_of=summary_request,
    dialog=_dialog,
    binding=LayersBinding,
    rank=3,
    place=lambda page: page.model.tools,
    text="Sho&w layers…",
    button="layers_button",
    tip="Builds the model without training it, and lists its layers with their shapes and "
    "parameters.",
)
