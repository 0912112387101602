"""The bar on top: the profile on the left, the run's state and buttons on the right."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QMenu, QWidget

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.queue_button import QueueButton
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.buttons import FollowingButton
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped


class ProfileBar(QWidget):
    """Shows the profile's name and the run's state; passes on what a person wants with them.

    Args:
        actions: Its buttons follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    nameEdited = Signal(str)
    newRequested = Signal()
    openRequested = Signal()
    saveRequested = Signal()
    saveAsRequested = Signal()
    fileChosen = Signal(object)
    """A recent profile: its :class:`Path`."""
    exampleChosen = Signal(object)
    """An example profile: its :class:`Path`."""
    startRequested = Signal()
    stopRequested = Signal()
    suspendRequested = Signal()
    queueRequested = Signal()

    def __init__(self, actions: WindowActions | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("profile_bar")
        self._actions = actions or WindowActions(self)
        self._name = QLineEdit(self)
        self._name.setObjectName("profile_name")
        self._name.setMaxLength(200)
        self._name.setMinimumWidth(220)
        self._name.setMaximumWidth(360)
        self._name.setAccessibleName("Profile name")
        self._name.setToolTip(
            "The profile's name; its runs have it, too.\n"
            "A profile is everything that you choose here, saved as one TOML file."
        )
        self._dirty = QLabel("●", self)
        self._dirty.setObjectName("dirty_mark")
        self._dirty.setToolTip("There are changes that are not saved")
        self._dirty.setAccessibleName("Unsaved changes")
        policy = self._dirty.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._dirty.setSizePolicy(policy)
        self.recent_menu = QMenu("Open &recent", self)
        self.recent_menu.setObjectName("recent")
        self.examples_menu = QMenu("&Examples", self)
        self.examples_menu.setObjectName("examples")
        self._open = FollowingButton(self._actions.open, "profile_open", self)
        self._save = FollowingButton(self._actions.save, "profile_save", self)
        self._state = QLabel(self)
        self._state.setObjectName("run_state")
        self._state.setProperty("role", "title")
        self._start = FollowingButton(self._actions.start, "start_button", self)
        self._start.setProperty("role", "primary")
        self._queue = FollowingButton(self._actions.queue, "queue_button", self)
        self._stop = FollowingButton(self._actions.stop, "stop_button", self)
        self._stop.setProperty("role", "danger")
        self._suspend = FollowingButton(self._actions.suspend, "suspend_button", self)
        self._compose()
        self._connect()

    def setDocument(self, name: str, *, is_dirty: bool, path: Path | None) -> None:
        """Show the profile's name, its file and whether there is something to save."""
        if self._name.text() != name:
            self._name.setText(name)
        self._dirty.setVisible(is_dirty)
        place = str(path) if path is not None else "not saved to a file yet"
        self._actions.set_tip(self._actions.save, f"Saves the profile (Ctrl+S)\n{place}")

    def setRecent(self, paths: Sequence[Path]) -> None:
        """Fill the menu of recent profiles, the latest first."""
        self._fill(self.recent_menu, [(path.name, path) for path in paths])

    def setExamples(self, examples: Sequence[tuple[str, Path]]) -> None:
        """Fill the menu of example profiles, each with its title."""
        self._fill(self.examples_menu, examples)

    def setState(self, words: str, tone: Tone) -> None:
        """Say where the run stands.

        Args:
            words: One or two words.
            tone: How they are meant.
        """
        self._state.setText(f"● {words}")
        set_tone(self._state, tone)

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
        actions.stop.setText(_stop_text(states))
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

    def _compose(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 2, 16, 4)
        layout.setSpacing(8)
        for widget in (self._name, self._dirty, self._open, self._save):
            layout.addWidget(widget)
        layout.addStretch(1)
        layout.addWidget(self._state)
        layout.addSpacing(16)
        layout.addWidget(self._start)
        layout.addWidget(self._queue)
        layout.addWidget(self._stop)
        layout.addWidget(self._suspend)
        self._start.setMinimumWidth(96)
        # As wide as its wider text, so that Start does not move when it changes.
        self._stop.setMinimumWidth(96)
        self._suspend.setMinimumWidth(96)

    def _connect(self) -> None:
        self._name.editingFinished.connect(self._on_name_edited)
        actions = self._actions
        for action, requested in (
            (actions.new, self.newRequested),
            (actions.open, self.openRequested),
            (actions.save, self.saveRequested),
            (actions.save_as, self.saveAsRequested),
            (actions.start, self.startRequested),
            (actions.queue, self.queueRequested),
        ):
            action.triggered.connect(finish_editing)
            action.triggered.connect(requested)
        actions.stop.triggered.connect(self.stopRequested)
        actions.suspend.triggered.connect(self.suspendRequested)
        self.recent_menu.triggered.connect(self._on_recent)
        self.examples_menu.triggered.connect(self._on_example)

    def _fill(self, menu: QMenu, entries: Sequence[tuple[str, Path]]) -> None:
        menu.clear()
        menu.setEnabled(bool(entries))
        for title, path in entries:
            # An & in a file's name is no mnemonic.
            action = menu.addAction(visible_line(title).replace("&", "&&"))
            action.setData(path)
            action.setToolTip(wrapped(str(path)))
        menu.setToolTipsVisible(True)

    @Slot(QAction)
    def _on_recent(self, action: QAction) -> None:
        self.fileChosen.emit(action.data())

    @Slot(QAction)
    def _on_example(self, action: QAction) -> None:
        self.exampleChosen.emit(action.data())

    @Slot()
    def _on_name_edited(self) -> None:
        self.nameEdited.emit(self._name.text())


_UNCHECKED = (
    "\n\n"
    "Still checking whether TensorFlow can use the chosen GPUs. A run that is started now "
    "ends with the reason if it cannot."
)


def _stop_text(states: ButtonStates) -> str:
    if states.is_stopping:
        return "S&topping…"
    return "E&nd now…" if states.stop_ends_now else "S&top"


def _stop_tip(states: ButtonStates) -> str:
    if states.is_stopping:
        return "The run finishes its step and saves the model and a checkpoint"
    if states.stop_ends_now:
        return "Ends the run at once, without saving; asks before (Ctrl+.)"
    return "Finishes the step, saves the model and a checkpoint, then ends the run (Ctrl+.)"


def _start_tip(states: ButtonStates, error_count: int, others: Sequence[str]) -> str:
    if states.start:
        tip = "Starts a run of this profile in a separate process (Ctrl+Enter)"
        if states.start_is_unchecked:
            tip += _UNCHECKED
        return "\n".join([f"{tip}\n\nOther processes on its devices:", *others]) if others else tip
    if states.stop:
        return "A run is in progress: stop it, or wait until it ends"
    if error_count:
        return "Fix the problems first: see What will happen in Session"
    return "Not ready yet"
