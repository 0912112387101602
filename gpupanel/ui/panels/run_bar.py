"""The bar on top, its right: how the session or a run stands, and what starts one."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.queue_button import QueueButton
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.buttons import ElidedButton, FollowingButton
from gpupanel.ui.widgets.labels import ElidedLabel, ShorterLabel, Tone, set_role, set_tone
from gpupanel.ui.widgets.tips import wrapped

NOTICE_MS = 6_000
_BUTTON_WIDTH = 96
"""Pixels: as wide as the widest text that a button has, so that none moves another."""

_LEAST_NAME, _WIDEST_NAME = 112, 200
"""Pixels of a run's name; a longer one is shortened in its middle."""
_LINK_PADDING = 5
"""Pixels at either side of it."""

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
    """Shows how the session stands or which run goes on; starts a run or adds it to the queue.

    What steers a run stands on its page: no button here means another run than the one it names.

    Args:
        actions: Its buttons follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    startRequested = Signal()
    queueRequested = Signal()
    runRequested = Signal()
    """The run whose state is shown is to be seen."""

    def __init__(self, actions: WindowActions | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_bar")
        self._actions = actions or WindowActions(self)
        self._progress = ""
        self._run = ElidedButton(_LINK_PADDING, _LEAST_NAME, Qt.TextElideMode.ElideMiddle, self)
        self._run.setObjectName("run_link")
        self._run.setProperty("role", "link")
        self._run.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._run.clicked.connect(self.runRequested)
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
        set_role(self._start, "primary")
        self._compose()
        for action, requested in (
            (self._actions.start, self.startRequested),
            (self._actions.queue, self.queueRequested),
        ):
            action.triggered.connect(finish_editing)
            action.triggered.connect(requested)
        self.setRun("")

    def setRun(self, name: str) -> None:
        """Name the run whose state is shown; empty: it is that of the session."""
        self._run.setVisible(bool(name))
        shown = self._run.fontMetrics().elidedText(
            visible_line(name), Qt.TextElideMode.ElideMiddle, _WIDEST_NAME
        )
        # An ampersand would be a key.
        self._run.setText(shown.replace("&", "&&"))
        self._run.setToolTip(wrapped(f"Shows {name}"))
        self._run.setAccessibleName(visible_line(name))

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

    def setNotice(self, words: str, shorter: str = "") -> None:
        """Say for a moment what became of a click.

        Args:
            words: In a sentence.
            shorter: The same where there is no room for that; empty: it is cut.
        """
        self._detail.setForms((words, shorter) if shorter else (words,))
        self._detail.setToolTip(wrapped(words))
        self._notice.start()

    @Slot()
    def end_notice(self) -> None:
        """Say no longer what became of a click: it was about something else."""
        self._notice.stop()
        self._show_progress()

    def setButtons(
        self, states: ButtonStates, error_count: int, others: Sequence[str] = ()
    ) -> None:
        """Enable what can be done; what cannot be done says why in its tooltip.

        Args:
            states: What can be done, also by the menu and by keys.
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

    def setQueueButton(self, button: QueueButton) -> None:
        """Say what the queue's button does, and whether it can be pressed."""
        queue = self._actions.queue
        queue.setText(f"&{button.text}")
        self._actions.set_tip(queue, button.tip)
        queue.setEnabled(button.is_enabled)

    @Slot()
    def _show_progress(self) -> None:
        without_epoch = self._progress.rpartition(" · ")[2]
        numbers = self._progress.removeprefix("epoch ")
        forms = tuple(dict.fromkeys((self._progress, numbers, without_epoch)))
        self._detail.setForms(forms)
        self._detail.setToolTip(wrapped(self._progress))

    def _compose(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._run)
        layout.addWidget(self._state)
        layout.addWidget(self._detail)
        layout.addSpacing(8)
        for button in (self._start, self._queue):
            button.setMinimumWidth(_BUTTON_WIDTH)
            layout.addWidget(button)


_UNCHECKED = (
    "\n\n"
    "Still checking whether TensorFlow can use the chosen GPUs. A run that is started now "
    "ends with the reason if it cannot."
)


def _stop_tip(states: ButtonStates) -> str:
    if states.is_program and states.is_stopping:
        return "The program was interrupted, and ends by itself"
    if states.is_program:
        return "Interrupts the program as Ctrl+C in a terminal does (Ctrl+.)"
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
