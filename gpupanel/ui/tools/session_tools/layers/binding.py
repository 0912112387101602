"""Has the session's model built when the page asks for it: its layers, and the memory it takes."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.ladder import Ladder
from gpupanel.domain.model_summary import (
    ModelSummary,
    SummaryRequest,
    summary_request,
    summary_sentence,
)
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.measured_speeds import device_speeds
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_tool_binding import SessionTool, SessionToolBinding
from gpupanel.ui.workers.tool_worker import Ask, ToolWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog


FOLLOW_DELAY_MS = 1000
"""After the last change: building takes seconds of a processor."""

LADDER_DELAY_MS = 300
"""After the last change: ways to fit take a tenth of a second to be calculated."""


def _dialog() -> "type[LayersDialog]":
    from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog

    return LayersDialog


class LayersBinding(SessionToolBinding[SummaryRequest]):
    """Opens the dialog, estimates memory, finds ways to fit; each has the model built.

    Once somebody has asked for an estimate, every model that is chosen later is built, too. Where
    a model does not fit, or its layers are on several devices, it is built in every way in which a
    step can be computed; and so it stays when a person has asked for that.
    """

    def __init__(
        self, session: Session, page: SessionPage, window: QWidget, tool: SessionTool
    ) -> None:
        super().__init__(session, page, window, tool)
        self._follows = self._wants_ways = False
        self._timer = QTimer(self, singleShot=True, interval=FOLLOW_DELAY_MS)
        self._timer.timeout.connect(self._make)
        self._ladder_timer = QTimer(self, singleShot=True, interval=LADDER_DELAY_MS)
        self._ladder_timer.timeout.connect(self._look_for_ways)
        self._ladder_worker = ToolWorker("finding ways to fit", Ladder, self)
        self._ladder_worker.answered.connect(self._show_ways)
        self._ladder_worker.refused.connect(self.refused)
        page.plan.estimate.requested.connect(self._estimate)
        page.plan.estimate.waysRequested.connect(self._find_ways)
        session.preparationChanged.connect(self._see_preparation)
        page.strategy.layersRequested.connect(self._make)
        self.worker.answered.connect(self._take)
        self.worker.busyChanged.connect(page.plan.estimate.setBusy)

    @override
    def stop(self) -> None:
        self._timer.stop()
        self._ladder_timer.stop()
        self._ladder_worker.stop()
        super().stop()

    @override
    def _ask(self, request: SummaryRequest) -> Ask:
        self._timer.stop()
        return super()._ask(request)

    @Slot()
    def _estimate(self) -> None:
        self._follows = True
        self._make()

    @Slot()
    def _find_ways(self) -> None:
        self._wants_ways = True
        self._estimate()

    @Slot(object)
    def _see_preparation(self, preparation: Preparation) -> None:
        """Look for ways to fit where it does not; show them once nothing changes for a moment."""
        if not _fits(preparation) and self._follows and not self._has_ways:
            self._make()
        self._ladder_timer.start()

    @Slot()
    def _look_for_ways(self) -> None:
        wanted = self._wants_ways or not _fits(self._session.preparation)
        find = self._session.ladder() if wanted else None
        if find is None:
            self._ladder_worker.cancel()
            self._page.plan.estimate.setLadder(Ladder())
            return
        self._ladder_worker.begin(lambda **_: find())

    @Slot(object)
    def _show_ways(self, ways: Ladder) -> None:
        # What a person has seen stays: one way after the other can be tried.
        self._wants_ways = self._wants_ways or bool(ways.rungs)
        self._page.plan.estimate.setLadder(ways)

    @property
    def _has_ways(self) -> bool:
        """Whether the model was built in every way, or is being built."""
        return self._request == super()._request_of(self._session.profile).in_every_way

    def _is_asked(self, profile: Profile) -> bool:
        """Whether the model of that profile was built as it has to be, or is being built."""
        request = self._request_of(profile)
        return self._request in (request, request.in_every_way)

    @override
    def _request_of(self, profile: Profile) -> SummaryRequest:
        request = super()._request_of(profile)
        is_placed = profile.strategy.kind is StrategyKind.MODEL_PARALLEL
        fits = _fits(self._session.preparation)
        return request.in_every_way if self._wants_ways or is_placed or not fits else request

    @Slot(object)
    def _take(self, summary: ModelSummary) -> None:
        if self._request is None:
            return
        profile, inventory = self._session.profile, self._session.inventory
        here = anchored(profile, Path.cwd())
        speeds = {} if inventory is None else device_speeds(here, inventory)
        self._session.set_built(self._request, summary, speeds)
        self._page.set_built_layers(self._request, summary)
        sentence = summary_sentence(summary)
        if summary.problems:
            sentence = summary.problems[0].message
        if not summary.layers:
            self._page.strategy.setLayersProblem(sentence)
        problem = "" if summary.step is not None or summary.layers else sentence
        model = sentence if summary.layers else ""
        self._page.plan.estimate.setAnswer(is_answered=True, problem=problem, model=model)
        self._ladder_timer.start()  # the plan may be the same as before

    @override
    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        super()._see_profile(profile)
        if self._is_asked(profile):
            return
        self._page.plan.estimate.setAnswer(is_answered=False)
        trains = profile.task == "train"
        if self._follows and trains:
            self._timer.start()


def _fits(preparation: Preparation) -> bool:
    return all(each.fits for each in preparation.memory)


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
