"""The bar on top, its right: where the run stands, and the buttons that steer it."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, QTimer, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.queue_button import QueueButton
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.buttons import FocusKeepingButton, FollowingButton
from gpupanel.ui.widgets.labels import ElidedLabel, ShorterLabel, Tone, set_role, set_tone
from gpupanel.ui.widgets.tips import wrapped

NOTICE_MS = 6_000
_BUTTON_WIDTH = 96
"""Pixels: as wide as the widest text that a button has, so that none moves another."""

_LEAST_STATE_WIDTH = 112
"""Pixels of the state where there is no room for all of its words."""


class _StateLabel(ElidedLabel):
    """Is shortened only where its words are long: "Ready" is always whole."""

    @override
    def minimumSizeHint(self) -> QSize:
        # Asked for anew with each font: before it is dressed the label's words are narrower.
        whole = self.sizeHint()
        return QSize(min(_LEAST_STATE_WIDTH, whole.width()), whole.height())


class RunBar(QWidget):
    """Shows the state of the run that goes on; passes on what a person wants with it.

    One place is shared by three buttons: *Suspend*; *Resume* once the run that is shown is
    suspended; *End now* while a run that was asked to stop still saves. None of them lies where
    the second click of a double click on *Stop* falls.

    Args:
        actions: Its buttons follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    startRequested = Signal()
    stopRequested = Signal()
    suspendRequested = Signal()
    resumeRequested = Signal()
    endRequested = Signal()
    """The run that saves is to be ended without that."""
    queueRequested = Signal()

    def __init__(self, actions: WindowActions | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_bar")
        self._actions = actions or WindowActions(self)
        self._resumes = self._ends = False
        self._progress = ""
        self._state = _StateLabel(parent=self)
        self._state.setObjectName("run_state")
        self._state.setProperty("role", "title")
        self._detail = ShorterLabel(self)
        self._detail.setObjectName("run_detail")
        self._detail.setProperty("tone", "muted")
        for label in (self._state, self._detail):
            # As wide as its words where there is room, and beside the buttons.
            label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._notice = QTimer(self, singleShot=True, interval=NOTICE_MS)
        self._notice.timeout.connect(self._show_progress)
        self._start = FollowingButton(self._actions.start, "start_button", self)
        self._queue = FollowingButton(self._actions.queue, "queue_button", self)
        self._stop = FollowingButton(self._actions.stop, "stop_button", self)
        self._suspend = FollowingButton(self._actions.suspend, "suspend_button", self)
        self._resume = self._button("Resume", "bar_resume_button", self.resumeRequested)
        self._end = self._button("End now…", "end_now_button", self.endRequested)
        self._end.setToolTip(wrapped("Ends the run at once, without saving; asks before"))
        set_role(self._stop, "danger")
        set_role(self._end, "danger")
        self._compose()
        self._connect()
        self.setResume("")

    def setState(self, words: str, tone: Tone, progress: str = "") -> None:
        """Say where the run stands.

        Args:
            words: One or two words.
            tone: How they are meant.
            progress: How far it is, where it goes on: the epoch, and what is left of the time.
        """
        if self._state.text() != f"● {words}":
            self._state.setText(f"● {words}")
            self._state.setToolTip(wrapped(words))
            self._state.updateGeometry()
        set_tone(self._state, tone)
        self._progress = progress
        if not self._notice.isActive():
            self._show_progress()

    def setNotice(self, words: str) -> None:
        """Say for a moment what became of a click."""
        self._detail.setForms((words,))
        self._detail.setToolTip(wrapped(words))
        self._notice.start()

    def setButtons(
        self, states: ButtonStates, error_count: int, others: Sequence[str] = ()
    ) -> None:
        """Enable what can be done; a button that cannot be pressed says why in its tooltip.

        Args:
            states: What can be done.
            error_count: Problems that keep a run from starting.
            others: Who uses the chosen devices already, a line each; a run shares them.
        """
        actions = self._actions
        actions.start.setEnabled(states.start)
        actions.stop.setEnabled(states.stop)
        actions.stop.setText("S&topping…" if states.is_stopping else "S&top")
        actions.suspend.setEnabled(states.suspend)
        actions.set_tip(actions.suspend, states.suspend_tip)
        actions.set_tip(actions.start, _start_tip(states, error_count, others))
        actions.set_tip(actions.stop, _stop_tip(states))
        self._ends = states.end_now
        self._show_third_button()

    def setResume(self, tip: str) -> None:
        """Offer to resume the run that is shown; that is what a person wants most then.

        Args:
            tip: What happens then; empty: it is not suspended, or another run goes on.
        """
        self._resumes = bool(tip)
        self._resume.setToolTip(wrapped(tip or "No run that is shown is suspended"))
        self._show_third_button()

    def setQueueButton(self, button: QueueButton) -> None:
        """Say what the queue's button does, and whether it can be pressed."""
        queue = self._actions.queue
        queue.setText(f"&{button.text}")
        self._actions.set_tip(queue, button.tip)
        queue.setEnabled(button.is_enabled)

    def _show_third_button(self) -> None:
        self._suspend.setVisible(not (self._ends or self._resumes))
        self._resume.setVisible(self._resumes and not self._ends)
        self._end.setVisible(self._ends)
        set_role(self._resume, "primary")
        set_role(self._start, "" if self._resumes else "primary")

    @Slot()
    def _show_progress(self) -> None:
        without_epoch = self._progress.rpartition(" · ")[2]
        numbers = self._progress.removeprefix("epoch ")
        forms = tuple(dict.fromkeys((self._progress, numbers, without_epoch)))
        self._detail.setForms(forms)
        self._detail.setToolTip(wrapped(self._progress))

    def _button(self, text: str, name: str, pressed: SignalInstance) -> FocusKeepingButton:
        button = FocusKeepingButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(finish_editing)
        button.clicked.connect(pressed)
        return button

    def _compose(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._state)
        layout.addWidget(self._detail)
        layout.addSpacing(8)
        for button in (
            self._start,
            self._queue,
            self._stop,
            self._suspend,
            self._resume,
            self._end,
        ):
            button.setMinimumWidth(_BUTTON_WIDTH)
            layout.addWidget(button)

    def _connect(self) -> None:
        for action, requested in (
            (self._actions.start, self.startRequested),
            (self._actions.queue, self.queueRequested),
            (self._actions.stop, self.stopRequested),
            (self._actions.suspend, self.suspendRequested),
        ):
            action.triggered.connect(finish_editing)
            action.triggered.connect(requested)


_UNCHECKED = (
    "\n\n"
    "Still checking whether TensorFlow can use the chosen GPUs. A run that is started now "
    "ends with the reason if it cannot."
)


def _stop_tip(states: ButtonStates) -> str:
    if states.is_stopping:
        return "The run finishes its step and saves the model and a checkpoint"
    return "Finishes the step, saves the model and a checkpoint, then ends the run (Ctrl+.)"


def _start_tip(states: ButtonStates, error_count: int, others: Sequence[str]) -> str:
    if states.start:
        tip = "Starts a run of this profile in a separate process (Ctrl+Enter)"
        if states.start_is_unchecked:
            tip += _UNCHECKED
        return "\n".join([f"{tip}\n\nOther processes on its devices:", *others]) if others else tip
    if states.stop or states.is_stopping:
        return "A run is in progress: stop it, or wait until it ends"
    if error_count:
        return "Fix the problems first: see What will happen in Session"
    return "The data is being read: a moment" if states.is_reading else "Not ready yet"
