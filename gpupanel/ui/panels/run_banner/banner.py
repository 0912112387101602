"""What is to be said about the shown run: which one it is, how it ended, and why."""

from PySide6.QtCore import QEvent, QSize, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.ui.checkpoint_offer import CheckpointOffer
from gpupanel.ui.panels.run_banner.next_steps import NextSteps
from gpupanel.ui.panels.run_banner.problem_card import ProblemCard
from gpupanel.ui.panels.run_banner.texts import selectable, sentences
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_links import RunLinks
from gpupanel.ui.widgets.buttons import FocusKeepingButton
from gpupanel.ui.widgets.export_menu import EXPORT_TIP, ExportMenu
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_SAVE = "Save check&point"
_MEMORY_TIP = (
    "TensorFlow frees GPU memory only when its process ends. The run's GPUs were watched until it "
    "was free again."
)
_TRACE_TIP = (
    "Has TensorFlow's profiler trace some steps of the training, and shows the operations that "
    "take the longest on each device"
)

_LONGEST_TITLE = 60
"""Letters; a longer one would make the window wider than a screen."""
_LEAST_STATE_WIDTH = 48
"""Pixels."""


class RunBanner(QFrame):
    """One line with the run's name and state; below it the problem that ended it, if any."""

    returnRequested = Signal()
    """Back to the run that goes on."""
    folderRequested = Signal()
    """The run's folder is to be opened in the file manager."""
    checkpointRequested = Signal()
    """The shown run is to save a checkpoint and go on."""
    traceRequested = Signal()
    """Steps of the shown run are to be traced."""
    settingsRequested = Signal()
    """The settings of the shown run are to be used for another one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_banner")
        self._run_name = self._label = ""
        self._is_beside: bool | None = None
        self._make_words()
        self._make_buttons()
        self.problem = ProblemCard(self)
        """What ended the run, with its fixes."""
        self.steps = NextSteps(self)
        """What can be done with the run."""
        self._compose()
        self.setRun("", "")

    def setRun(self, title: str, state: str) -> None:
        """Name the run that is shown, and say where it stands.

        Args:
            title: Empty: none is shown.
            state: Its state in words.
        """
        self._run_name = title
        self._show_title()
        self._state.setText(state)
        self._state.setToolTip(wrapped(state))
        self._folder.setVisible(bool(title))
        self._settings.setVisible(bool(title))
        self._export.setVisible(bool(title))
        self.setVisible(bool(title))

    def setLabel(self, label: str) -> None:
        """Call the run as a person does; empty: as its folder is called."""
        self._label = label
        self._show_title()

    def title(self) -> str:
        """How the shown run is called; empty: none is shown."""
        return self._label or self._run_name

    def setCard(self, words: str) -> None:
        """Say what became of a run that ended; empty: it goes on.

        Args:
            words: Its best epoch, how long it took, how large its model is.
        """
        self._card.setText(words)
        self._card.setVisible(bool(words))

    def setReturnVisible(self, *, visible: bool) -> None:
        """Offer the way back to the run that goes on."""
        self._return.setVisible(visible)

    def setCheckpointOffer(self, offer: CheckpointOffer | None) -> None:
        """Offer to save a checkpoint now, or do not."""
        self._checkpoint.setVisible(offer is not None)
        if offer is not None:
            self._checkpoint.setText("Saving…" if offer.is_saving else _SAVE)
            self._checkpoint.setEnabled(not offer.is_saving)
            self._checkpoint.setToolTip(wrapped(offer.tip))

    def setTraceOffered(self, *, offered: bool) -> None:
        """Offer to trace steps of the shown run, or do not."""
        self._trace.setVisible(offered)

    def setSettingsReadable(self, *, readable: bool) -> None:
        """Offer the run's settings for another run, where they can be read."""
        self._settings.setEnabled(readable)
        self._settings.setToolTip(
            "Copies the run's settings into the Session tab; the run stays as it is"
            if readable
            else "The run's profile cannot be read"
        )

    def setActions(self, actions: RunActions) -> None:
        """Offer what can be done with the run that is shown."""
        self.steps.setActions(actions)

    def setLinks(self, links: RunLinks) -> None:
        """Offer the runs that belong to the shown one by their model."""
        self.steps.setLinks(links)

    def setStory(self, words: str) -> None:
        """Say how the run came to go on after an end; empty: it never had to."""
        self._story.setText(f"↻ {words}" if words else "")
        self._story.setVisible(bool(words))

    def setMemory(self, words: str, *, is_held: bool = False) -> None:
        """Say what became of the GPU memory that the run held.

        Args:
            words: Empty: it held none, or goes on.
            is_held: Some of it did not come back.
        """
        self._memory.setText(f"! {words}" if is_held else words)
        set_tone(self._memory, Tone.WARNING if is_held else Tone.MUTED)
        self._memory.setVisible(bool(words))

    def setNotice(self, words: str) -> None:
        """Say what became of what was asked for; empty: nothing was, or it is seen elsewhere."""
        self._notice.setText(words)
        self._notice.setVisible(bool(words))

    def setGaps(self, words: str, hint: str = "") -> None:
        """Say what of the run cannot be shown; empty: all of it can."""
        self._gaps.setText(words)
        self._gaps.setToolTip(wrapped(hint))
        self._gaps.setVisible(bool(words))

    def setProblem(self, problem: Problem | None, log_tail: tuple[str, ...] = ()) -> None:
        """Say what ended the run, or what it complains about."""
        self.problem.setProblem(problem, log_tail)

    def setFixes(self, problem: Problem | None, *, can_try: bool = True) -> None:
        """Offer the changes that a problem proposes; nothing where it proposes none.

        Args:
            problem: What ended the run; ``None``: it goes on, or ended well.
            can_try: Whether no other run goes on now.
        """
        self.problem.setFixes(problem, can_try=can_try)

    @override
    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(self._title.sizeHint().width() + _LEAST_STATE_WIDTH, least.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_buttons()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange_buttons()  # a button came or went, or the name is another one
        return handled

    def _arrange_buttons(self) -> None:
        """Beside the words, or below them where there is no room beside them."""
        needed = self.minimumSizeHint().width() + self._buttons.sizeHint().width()
        is_beside = self.width() >= needed + _LEAST_STATE_WIDTH
        if is_beside is self._is_beside:
            return
        self._is_beside = is_beside
        self._head.removeWidget(self._buttons)
        if is_beside:
            self._head.addWidget(self._buttons, 0, 2)
        else:
            self._head.addWidget(self._buttons, 1, 0, 1, 3)

    def _make_words(self) -> None:
        self._title = selectable(self, "shown_run", "title")
        # A run's name and what it reached may be longer than a small window is wide.
        self._state = ElidedLabel(parent=self)
        self._state.setObjectName("shown_state")
        self._state.setProperty("tone", "muted")
        self._card = sentences(self, "run_card", "muted")
        self._story = sentences(self, "run_story")
        self._memory = sentences(self, "run_memory", "muted")
        self._memory.setToolTip(wrapped(_MEMORY_TIP))
        self._gaps = sentences(self, "run_gaps", "muted")
        self._notice = sentences(self, "run_notice", "muted")

    def _show_title(self) -> None:
        title = self.title()
        self._title.setText(title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…")
        names = [self._label, self._run_name] if self._label else []
        self._title.setToolTip(wrapped("\n".join(names)))

    def _make_buttons(self) -> None:
        make = self._button
        self._return = make("&Back to the current run", self.returnRequested)
        self._return.setToolTip("Shows the run that is in progress")
        self._checkpoint = FocusKeepingButton(_SAVE, self)
        self._checkpoint.setObjectName("checkpoint_button")
        self._checkpoint.clicked.connect(self.checkpointRequested)
        self._trace = make("Tra&ce…", self.traceRequested, "trace_button")
        self._trace.setToolTip(wrapped(_TRACE_TIP))
        self._trace.hide()
        self._settings = make("Use these settin&gs", self.settingsRequested, "use_settings_button")
        self._export = QPushButton("E&xport", self)
        self._export.setObjectName("export_button")
        self._export.setToolTip(wrapped(EXPORT_TIP))
        self.exports = ExportMenu(self)
        """The formats that the run, or its model, can be written in."""
        self._export.setMenu(self.exports)
        self._folder = make("Open fol&der", self.folderRequested)
        self._folder.setToolTip("Opens the run's folder: events, log, checkpoints, the model")

    def _button(self, text: str, pressed: SignalInstance, name: str = "") -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(pressed)
        return button

    def _compose(self) -> None:
        head = QGridLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 0, 0)
        head.addWidget(self._state, 0, 1)
        head.setColumnStretch(1, 1)
        self._buttons = QWidget(self)
        row = FlowLayout(self._buttons)
        for button in (
            self._return,
            self._checkpoint,
            self._trace,
            self._settings,
            self._export,
            self._folder,
        ):
            row.addWidget(button)
        self._head = head
        self._arrange_buttons()
        layout = column_in(self)
        layout.addLayout(head)
        layout.addWidget(self._card)
        layout.addWidget(self._story)
        layout.addWidget(self.problem)
        layout.addWidget(self._memory)
        layout.addWidget(self._gaps)
        layout.addWidget(self._notice)
        layout.addWidget(self.steps)
        self.setCard("")
        self.setStory("")
        self.setMemory("")
        self.setGaps("")
        self.setNotice("")
        self.setSettingsReadable(readable=False)
        self._checkpoint.setToolTip("Saves a checkpoint after the next step; the run continues")
        self.setCheckpointOffer(None)
        self._return.hide()
