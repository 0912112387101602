"""What can be done with the run that is shown, beside its name."""

from collections.abc import Callable

from PySide6.QtCore import Signal, SignalInstance, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.checkpoint_offer import CheckpointOffer
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.buttons import FocusKeepingButton, FollowingButton
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import set_role
from gpupanel.ui.widgets.tips import wrapped

_SAVE = "Save check&point"
_END_TIP = "Ends the run at once, without saving; asks before"
_TRACE_TIP = (
    "Has TensorFlow's profiler trace some steps of the training, and shows the operations that "
    "take the longest on each device"
)
_ACCEPT_TIP = (
    "Continues from the last checkpoint with the data as it is now. What the model learned from "
    "the previous data is kept; the run's events record the change."
)
_LONGER_TIP = (
    "Continues from the last checkpoint with more epochs, in the same folder. A learning rate that "
    "follows a schedule has the curve of the longer training from there on."
)
_STEERING_WIDTH = 88
"""Pixels: as wide as the widest of these texts, so that none of the buttons moves another."""


class RunButtons(QWidget):
    """Steers the run while it goes on, and lets it go on once it ended; a row that wraps.

    *Stop* and *Suspend* are there only where they mean this run. *End now* takes the place of
    *Suspend* while the run that was asked to stop still saves: it does not lie where the second
    click of a double click on *Stop* falls.

    Args:
        actions: Stop and Suspend follow them.
        parent: The owner in Qt's sense.
    """

    returnRequested = Signal()
    """Back to the run that goes on."""
    originRequested = Signal(object)
    """The run that saved the model of this one is to be shown: its directory, a :class:`Path`."""
    endRequested = Signal()
    """The run that saves is to be ended without that."""
    resumeRequested = Signal()
    """The run is to go on from its last checkpoint."""
    resumeOnSelectedRequested = Signal()
    """The same, with the devices that are chosen in the session."""
    changedDataAccepted = Signal()
    """It is to go on with its data as it is now, though that is other than before."""
    longerRequested = Signal()
    """It is to be trained for more epochs."""
    checkpointRequested = Signal()
    """It is to save a checkpoint and go on."""
    traceRequested = Signal()
    """Steps of it are to be traced."""
    settingsRequested = Signal()
    """Its settings are to be used for another one."""

    def __init__(self, actions: WindowActions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("run_buttons")
        self._origin_run: RunSummary | None = None
        make = self._button
        self._return = make("&Back to the current run", self.returnRequested, "return_button")
        self._origin = make("Show training run", self._report_origin, "origin_button")
        self._stop = FollowingButton(actions.stop, "stop_button", self)
        self._suspend = FollowingButton(actions.suspend, "suspend_button", self)
        self._end = make("End now…", self.endRequested, "end_now_button")
        self._end.setToolTip(wrapped(_END_TIP))
        self._resume = make("Resume", self.resumeRequested, "resume_button")
        on_selected = self.resumeOnSelectedRequested
        self._on_selected = make(
            "Resume on selected devices", on_selected, "resume_elsewhere_button"
        )
        accepted = self.changedDataAccepted
        self._accept = make("Resume with the changed data", accepted, "accept_data_button")
        self._accept.setToolTip(wrapped(_ACCEPT_TIP))
        self._longer = make("Train &longer…", self.longerRequested, "train_longer_button")
        self._longer.setToolTip(wrapped(_LONGER_TIP))
        self._more = self._make_more()
        for button in (self._stop, self._end):
            set_role(button, "danger")
        for button in (self._stop, self._suspend, self._end):
            button.setMinimumWidth(_STEERING_WIDTH)
        row = FlowLayout(self)
        for button in (
            self._return,
            self._origin,
            self._stop,
            self._suspend,
            self._end,
            self._resume,
            self._on_selected,
            self._accept,
            self._longer,
        ):
            row.addWidget(button)
        row.addWidget(self._more)
        self.setReturn("")
        self.setOrigin(None)
        self.setSteering(None)
        self.setActions(RunActions())
        self.setCheckpointOffer(None)
        self.setTraceOffered(offered=False)
        self.setSettingsReadable(readable=False)

    def setReturn(self, name: str) -> None:
        """Offer the way back to the run that goes on.

        Args:
            name: That of the other run; empty: none goes on, or it is this one.
        """
        self._return.setVisible(bool(name))
        self._return.setToolTip(wrapped(f"Shows {name}, which is in progress"))

    def setOrigin(self, origin: RunSummary | None) -> None:
        """Offer the run that saved the model which this one took; ``None``: it took no run's."""
        self._origin_run = origin
        self._origin.setVisible(origin is not None)
        name = "the run" if origin is None else f"{visible_line(origin.title)},"
        self._origin.setToolTip(wrapped(f"Shows {name} which saved this model"))

    def setSteering(self, states: ButtonStates | None) -> None:
        """Let the run be steered; ``None``: it is not the one that goes on."""
        self._stop.setVisible(states is not None)
        self._suspend.setVisible(states is not None and not states.end_now)
        self._end.setVisible(states is not None and states.end_now)

    def setActions(self, actions: RunActions, outcome: Outcome | None = None) -> None:
        """Offer what lets the run go on.

        Args:
            actions: What can be done.
            outcome: How the run ended. That a suspended one goes on is what a person wants most.
        """
        self._resume.setVisible(actions.offers_resume)
        self._resume.setEnabled(actions.can_resume)
        self._resume.setToolTip(wrapped(actions.resume_tip))
        set_role(self._resume, "primary" if outcome is Outcome.SUSPENDED else "")
        self._on_selected.setVisible(actions.offers_resume)
        self._on_selected.setEnabled(actions.can_resume_on_selected)
        self._on_selected.setToolTip(wrapped(actions.on_selected_tip))
        self._accept.setVisible(actions.offers_changed_data)
        self._longer.setVisible(actions.offers_longer)
        self._longer.setEnabled(actions.can_train_longer)

    def setCheckpointOffer(self, offer: CheckpointOffer | None) -> None:
        """Offer to save a checkpoint now, or do not."""
        self._checkpoint.setVisible(offer is not None)
        if offer is not None:
            self._checkpoint.setText("Saving…" if offer.is_saving else _SAVE)
            self._checkpoint.setEnabled(not offer.is_saving)
            self._checkpoint.setToolTip(wrapped(offer.tip))

    def setTraceOffered(self, *, offered: bool) -> None:
        """Offer to trace steps of the run, or do not."""
        self._trace.setVisible(offered)

    def setSettingsReadable(self, *, readable: bool) -> None:
        """Offer the run's settings for another run, where they can be read."""
        self._settings.setEnabled(readable)
        self._settings.setToolTip(
            "Copies the run's settings into the Session tab; the run stays as it is"
            if readable
            else "The run's profile cannot be read"
        )

    def _make_more(self) -> QPushButton:
        """What is wanted now and then."""
        more = QPushButton("More", self)
        more.setObjectName("run_more_button")
        more.setToolTip("Checkpoint now, trace, the run's settings")
        menu = QMenu(more)
        menu.setToolTipsVisible(True)
        self._checkpoint = menu.addAction(_SAVE)
        self._trace = menu.addAction("Tra&ce…")
        self._trace.setToolTip(wrapped(_TRACE_TIP))
        self._settings = menu.addAction("Use these settin&gs")
        for action, name, chosen in (
            (self._checkpoint, "save_checkpoint", self.checkpointRequested),
            (self._trace, "trace_run", self.traceRequested),
            (self._settings, "use_settings", self.settingsRequested),
        ):
            action.setObjectName(name)
            action.triggered.connect(finish_editing)
            action.triggered.connect(chosen)
        more.setMenu(menu)
        return more

    @Slot()
    def _report_origin(self) -> None:
        if self._origin_run is not None:
            self.originRequested.emit(self._origin_run.path)

    def _button(
        self, text: str, pressed: SignalInstance | Callable[[], None], name: str = ""
    ) -> FocusKeepingButton:
        button = FocusKeepingButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(finish_editing)
        button.clicked.connect(pressed)
        return button
