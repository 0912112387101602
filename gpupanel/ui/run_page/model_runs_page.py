"""What was measured or predicted with the model of the run that is shown: a tab of its page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QStackedLayout, QStackedWidget, QWidget

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.problem import Problem
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_links import link_texts
from gpupanel.ui.run_page.banner.problem_card import ProblemCard
from gpupanel.ui.run_page.progress import ProgressRow
from gpupanel.ui.run_texts import short_run_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.buttons import FocusKeepingButton
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import EmptyState, set_role
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.page_scroll import PageScroll
from gpupanel.ui.widgets.tips import wrapped

ModelTask = Literal["evaluate", "predict"]
"""What is done with a saved model."""

_NO_MODEL = "The model is saved when the training ends, or is stopped."
_BUSY = "Another run is in progress and has to end first."
_WEIGHTS_TIP = (
    "The run's model has the weights of one epoch; those of the other, the best or the last one, "
    "stand beside it."
)
_SESSION_TIP = (
    "Fills in the Session tab, where other data, devices and how it is divided can be chosen."
)
_STOP_TIP = "Stops it; what was not finished is not kept"


@dataclass(frozen=True, slots=True)
class _Words:
    """What the two tabs say differently.

    Attributes:
        start: On the button that begins one.
        tip: What that does.
        other: The same with the weights that the model does not have; ``{}`` names them.
        title: Of the list.
        empty: Title where there is none yet.
        sentence: Below it.
        waiting: Before there is a model.
        rest: On the button that goes back to what is shown as long as none is looked at.
        rest_tip: What that is.
        rests_without_model: Whether that is of use before there is a model.
    """

    start: str
    tip: str
    other: str
    title: str
    empty: str
    sentence: str
    waiting: str
    rest: str
    rest_tip: str
    rests_without_model: bool


_WORDS: dict[ModelTask, _Words] = {
    "evaluate": _Words(
        start="Evalu&ate this model",
        tip="Measures the model on the examples that its training held out, on the devices of the "
        "run; the result appears here.",
        other="Evaluate {}",
        title="Evaluations of this run",
        empty="Not evaluated yet",
        sentence="What the model does on the examples that were held out, the matrix of its "
        "mistakes and the metrics of each class appear here.",
        waiting="The model can be evaluated",
        rest="Validation e&xamples",
        rest_tip="Shows some validation examples, with what the model said of them after each "
        "epoch",
        rests_without_model=True,
    ),
    "predict": _Words(
        start="Run on f&iles…",
        tip="Predicts on files that are not part of the training data, by a run: it makes a table "
        "and a file, which appear here. Files can be dropped on this page instead.",
        other="Predict with {}…",
        title="Predictions of this run",
        empty="Nothing predicted yet",
        sentence="Drop files here, or a folder of images: what the model says of each appears "
        "here, and is saved as a file.",
        waiting="The model can predict",
        rest="Single e&xamples",
        rest_tip="Asks the model about one example after the other",
        rests_without_model=False,
    ),
}


class ModelRunsPage(QWidget):
    """Begins an evaluation or a prediction, lists those there are, and shows one of them.

    Args:
        task: Which of both.
        parent: The owner in Qt's sense.
        resting: What is shown as long as none is looked at, and :meth:`setResting` says so.
    """

    startRequested = Signal(bool)
    """One is to begin; True: with the weights that the model of the run does not have."""
    folderRequested = Signal()
    """A folder of files is to be predicted on."""
    sessionRequested = Signal()
    """It is to be set up in the session."""
    stopRequested = Signal()
    """The one that goes on is to stop."""
    runChosen = Signal(object)
    """One of the list is to be shown here: its directory, a :class:`Path`."""
    restRequested = Signal()
    """None is to be looked at any more."""
    pageRequested = Signal(object)
    """The one that is looked at is to be shown on a page of its own: its directory."""

    def __init__(
        self,
        task: ModelTask,
        parent: QWidget | None = None,
        *,
        resting: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"{task}_page")
        self.task = task
        self._words = _WORDS[task]
        self._actions = RunActions()
        self._chosen: Path | None = None
        self._resting, self._may_rest = resting, False
        self._listed: list[tuple[Path, str]] = []
        self.panel = EvaluationPanel()
        """What the run that is looked at found."""
        self.progress = ProgressRow(self)
        self._problem = ProblemCard(self)
        self._make_head()
        self._empty = EmptyState(self._words.empty, self._words.sentence)
        self._stack = QStackedLayout()
        self._places = QStackedWidget()
        self._compose()
        self.setActions(RunActions(), is_busy=False)
        self.setRuns(())
        self.forget()

    def setActions(self, actions: RunActions, *, is_busy: bool) -> None:
        """Offer what can be done with the model of the run that is shown.

        Args:
            actions: What can be done with the run.
            is_busy: A run goes on, so that none can begin.
        """
        self._actions = actions
        has_model, can_start = actions.offers_evaluate, actions.offers_evaluate and not is_busy
        reason = _NO_MODEL if not has_model else _BUSY if is_busy else ""
        for button, tip in (
            (self._start, self._words.tip),
            (self._folder, "Predicts on all images of a folder, whatever it is called"),
            (self._other, _WEIGHTS_TIP),
        ):
            button.setEnabled(can_start)
            button.setToolTip(wrapped(reason or tip))
        self._session.setEnabled(has_model)
        self._session.setToolTip(wrapped(_SESSION_TIP if has_model else _NO_MODEL))
        self._other.setVisible(bool(actions.other_weights) and not self._is_itself)
        is_last = actions.other_weights == Keep.LAST.value
        whose = "the last weights" if is_last else "the best epoch's weights"
        self._other.setText(self._words.other.format(whose))
        self._show_empty()

    def setRuns(self, runs: Sequence[RunSummary]) -> None:
        """List those there are, the newest first; the one that is looked at stays chosen."""
        listed = [*zip((run.path for run in runs), link_texts(runs), strict=True)]
        if listed == self._listed:
            return  # somebody may be choosing right now
        self._listed = listed
        self._list.clear()
        for place, (_, text) in enumerate(listed):
            self._list.addItem(text)
            self._list.setItemData(place, wrapped(text), Qt.ItemDataRole.ToolTipRole)
        self._choose_listed()
        self._list.setVisible(bool(runs))
        self._show_empty()

    def setItself(self, *, is_itself: bool) -> None:
        """Whether the run that is shown is one of these itself, and nothing else is listed."""
        self._is_itself = is_itself
        for button in (self._start, self._session):
            button.setVisible(not is_itself)
        self._folder.setVisible(not is_itself and self.task == "predict")
        self.setActions(self._actions, is_busy=not self._start.isEnabled())

    def look_at(self, path: Path, status: RunStatus | None = None) -> None:
        """Show that one from its beginning.

        Args:
            path: Its directory.
            status: Where it stands, if that is known.
        """
        self._chosen = path
        self._choose_listed()
        self.panel.begin(self.task)
        self._problem.setProblem(None)
        self._stack.setCurrentWidget(self.panel)
        self._page.setVisible(not self._is_itself)
        self._show_place()
        self.setStatus(status or RunStatus(), can_stop=False)

    def setStatus(self, status: RunStatus, *, can_stop: bool) -> None:
        """Show how far the one that is looked at is, or why it ended.

        Args:
            status: Where it stands.
            can_stop: It is the run that goes on, so that it can be stopped from here.
        """
        goes_on = not status.has_ended and not self._is_itself
        self.progress.setStatus(status, short_run_text(status))
        self._strip.setVisible(goes_on)
        self.progress.bar.setVisible(goes_on)
        self._stop.setVisible(goes_on and can_stop)
        ending = None if self._is_itself else status.ending_problem
        self._show_problem(ending if status.has_ended else None, status.log_tail)

    def setStarting(self, words: str, *, can_stop: bool) -> None:
        """Show that one is being started that has no directory yet.

        Args:
            words: How that stands; empty: none is being started any more.
            can_stop: It can be stopped from here.
        """
        self.progress.setStatus(RunStatus(), words)
        self._strip.setVisible(bool(words))
        self.progress.bar.setVisible(bool(words))
        self._stop.setVisible(can_stop)

    def forget(self) -> None:
        """Show none: another run is shown."""
        self._chosen = None
        self._choose_listed()
        self._problem.setProblem(None)
        self._strip.hide()
        self.progress.bar.hide()
        self._page.hide()
        self._stack.setCurrentWidget(self._empty)
        self._show_place()

    def setResting(self, *, may_rest: bool) -> None:
        """Whether what is shown as long as none is looked at is of use with this run."""
        self._may_rest = may_rest
        self._show_place()

    def _show_place(self) -> None:
        is_of_use = self._actions.offers_evaluate or self._words.rests_without_model
        can_rest = self._may_rest and is_of_use and not self._is_itself
        rests = can_rest and self._chosen is None
        if self._resting is not None:
            self._places.setCurrentIndex(1 if rests else 0)
        self._rest.setVisible(can_rest and not rests)
        is_beside = rests and not self._words.rests_without_model
        set_role(self._start, "" if is_beside else "primary")

    def _show_problem(self, problem: Problem | None, log_tail: tuple[str, ...]) -> None:
        self._problem.setProblem(problem, log_tail)

    def _make_head(self) -> None:
        self._is_itself = False
        make = self._button
        words = self._words
        self._start = make(words.start, f"{self.task}_button", self._begin)
        set_role(self._start, "primary")
        self._folder = make("Run on a f&older…", f"{self.task}_folder_button", self.folderRequested)
        self._folder.setVisible(self.task == "predict")
        self._other = make("", f"{self.task}_other_button", self._begin_other)
        self._session = make(
            "Set up in Session", f"{self.task}_in_session_button", self.sessionRequested
        )
        self._list = ComboBox(self)
        self._list.setObjectName(f"{self.task}_list")
        self._list.setAccessibleName(words.title)
        self._list.setToolTip(wrapped(words.title))
        self._list.setPlaceholderText(words.title)
        self._list.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._list.setMinimumContentsLength(28)
        # They begin alike, and differ in what they found.
        self._list.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.activated.connect(self._choose)
        self._list.hide()
        self._rest = make(words.rest, f"{self.task}_rest_button", self.restRequested)
        self._rest.setToolTip(wrapped(words.rest_tip))
        self._page = make("Open as a page", f"{self.task}_page_button", self._open_page)
        self._page.setToolTip(wrapped("Shows its devices, speed and log on a page of its own"))
        self._stop = make("Stop", f"{self.task}_stop_button", self.stopRequested)
        self._stop.setToolTip(_STOP_TIP)
        set_role(self._stop, "danger")

    def _compose(self) -> None:
        head = QWidget()
        row = FlowLayout(head)
        for part in (
            self._rest,
            self._start,
            self._folder,
            self._other,
            self._session,
            self._list,
            self._page,
        ):
            row.addWidget(part)
        self._strip = QWidget()
        strip = row_in(self._strip)
        strip.addWidget(self.progress, 1)
        strip.addWidget(self._stop, 0, Qt.AlignmentFlag.AlignRight)
        column = column_in(self, spacing=GRID)
        column.setContentsMargins(0, GRID, 0, 0)
        column.addWidget(head)
        column.addWidget(self._strip)
        column.addWidget(self.progress.bar)
        column.addWidget(self._problem)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.panel)
        # Its least size is more than a small window has.
        result = PageScroll(self._words.title)
        result.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        column_in(result.page).addLayout(self._stack)
        self._places.addWidget(result)
        if self._resting is not None:
            self._places.addWidget(self._resting)
        column.addWidget(self._places, 1)

    def _show_empty(self) -> None:
        self._show_place()
        if self._actions.offers_evaluate:
            self._empty.setTexts(self._words.empty, self._words.sentence)
        else:
            self._empty.setTexts(f"{self._words.waiting} once it is saved", _NO_MODEL)

    def _button(
        self, text: str, name: str, pressed: SignalInstance | Callable[[], None]
    ) -> QPushButton:
        button = FocusKeepingButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(pressed)
        return button

    @Slot()
    def _begin(self) -> None:
        self.startRequested.emit(False)

    @Slot()
    def _begin_other(self) -> None:
        self.startRequested.emit(True)

    @Slot(int)
    def _choose(self, place: int) -> None:
        # Not as the item's data: Qt would change a name that is no UTF-8.
        self.runChosen.emit(self._listed[place][0])

    @Slot()
    def _open_page(self) -> None:
        if self._chosen is not None:
            self.pageRequested.emit(self._chosen)

    def _choose_listed(self) -> None:
        """Choose the one that is looked at in the list, as soon as it is there."""
        paths = [path for path, _ in self._listed]
        self._list.setCurrentIndex(paths.index(self._chosen) if self._chosen in paths else -1)
