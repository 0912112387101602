"""The bar on top: the profile on the left, the run's state and buttons on the right."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.queue_button import QueueButton
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.buttons import FocusKeepingButton
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

_Key = QKeySequence.StandardKey


class ProfileBar(QWidget):
    """Shows the profile's name and the run's state; passes on what a person wants with them."""

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("profile_bar")
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
        self._recent = QMenu("&Recent", self)
        self._examples = QMenu("&Examples", self)
        self._open = _button("Open", "profile_open", "Opens a profile (Ctrl+O)", self)
        self._save = _button("Save", "profile_save", "Saves the profile (Ctrl+S)", self)
        self._menu = self._make_menu()
        self._state = QLabel(self)
        self._state.setObjectName("run_state")
        self._state.setProperty("role", "title")
        self._start = FocusKeepingButton("Start", self)
        self._start.setObjectName("start_button")
        self._start.setProperty("role", "primary")
        self._queue = FocusKeepingButton("Queue", self)
        self._queue.setObjectName("queue_button")
        self._stop = FocusKeepingButton("Stop", self)
        self._stop.setObjectName("stop_button")
        self._stop.setProperty("role", "danger")
        self._suspend = FocusKeepingButton("Suspend", self)
        self._suspend.setObjectName("suspend_button")
        self._compose()
        self._connect()

    def setDocument(self, name: str, *, is_dirty: bool, path: Path | None) -> None:
        """Show the profile's name, its file and whether there is something to save."""
        if self._name.text() != name:
            self._name.setText(name)
        self._dirty.setVisible(is_dirty)
        place = str(path) if path is not None else "not saved to a file yet"
        self._save.setToolTip(wrapped(f"Saves the profile (Ctrl+S)\n{place}"))

    def setRecent(self, paths: Sequence[Path]) -> None:
        """Fill the menu of recent profiles, the latest first."""
        self._fill(self._recent, [(path.name, path) for path in paths])

    def setExamples(self, examples: Sequence[tuple[str, Path]]) -> None:
        """Fill the menu of example profiles, each with its title."""
        self._fill(self._examples, examples)

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
        self._start.setEnabled(states.start)
        self._stop.setEnabled(states.stop)
        self._stop.setText(_stop_text(states))
        self._suspend.setEnabled(states.suspend)
        self._suspend.setToolTip(wrapped(states.suspend_tip))
        self._start.setToolTip(wrapped(_start_tip(states, error_count, others)))
        self._stop.setToolTip(wrapped(_stop_tip(states)))

    def setQueueButton(self, button: QueueButton) -> None:
        """Say what the queue's button does, and whether it can be pressed."""
        self._queue.setText(button.text)
        self._queue.setToolTip(wrapped(button.tip))
        self._queue.setEnabled(button.is_enabled)

    def _make_menu(self) -> QToolButton:
        menu = QMenu(self)
        for text, key, signal in (
            ("&New", _Key.New, self.newRequested),
            ("&Open…", _Key.Open, self.openRequested),
            ("&Save", _Key.Save, self.saveRequested),
            ("Save &as…", _Key.SaveAs, self.saveAsRequested),
        ):
            action = QAction(text, self)
            action.setShortcut(QKeySequence(key))
            action.triggered.connect(finish_editing)
            action.triggered.connect(signal)
            self.addAction(action)  # the shortcut works while the menu is closed
            menu.addAction(action)
        menu.addSeparator()
        menu.addMenu(self._recent)
        menu.addMenu(self._examples)
        button = QToolButton(self)
        button.setObjectName("profile_menu")
        button.setText("Profile ▾")
        button.setToolTip("New, save as, recent profiles, example profiles")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _compose(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.setSpacing(8)
        for widget in (self._name, self._dirty, self._menu, self._open, self._save):
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
        for button in (self._open, self._save, self._start, self._queue):
            button.clicked.connect(finish_editing)
        self._open.clicked.connect(self.openRequested)
        self._save.clicked.connect(self.saveRequested)
        self._start.clicked.connect(self.startRequested)
        self._queue.clicked.connect(self.queueRequested)
        self._stop.clicked.connect(self.stopRequested)
        self._suspend.clicked.connect(self.suspendRequested)
        self._recent.triggered.connect(self._on_recent)
        self._examples.triggered.connect(self._on_example)
        # Letters are for the page below: of two widgets with one letter neither is clicked by it.
        for keys, button in (
            ("Ctrl+Return", self._start),
            ("Ctrl+Shift+Return", self._queue),
            ("Ctrl+.", self._stop),
            ("Ctrl+Shift+.", self._suspend),
        ):
            # Keys that are held add one run to the queue, not thirty a second.
            QShortcut(QKeySequence(keys), self, button.click).setAutoRepeat(False)

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


def _button(text: str, name: str, tip: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setToolTip(tip)
    return button


_UNCHECKED = (
    "\n\n"
    "Still checking whether TensorFlow can use the chosen GPUs. A run that is started now "
    "ends with the reason if it cannot."
)


def _stop_text(states: ButtonStates) -> str:
    if states.is_stopping:
        return "Stopping…"
    return "End now…" if states.stop_ends_now else "Stop"


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
