"""What is to be said about the shown run: which one it is, how it ended, and why."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_text
from gpupanel.ui.checkpoint_offer import CheckpointOffer
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_links import RunLinks, link_words
from gpupanel.ui.widgets.export_menu import EXPORT_TIP, ExportMenu
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_SAVE = "Save check&point"
_MEMORY_TIP = (
    "TensorFlow frees GPU memory only when its process ends. The run's GPUs were watched until it "
    "was free again."
)
_AGAIN_TIP = (
    "Changes the run's profile as the button says. The run continues from its last checkpoint; "
    "without one it starts again."
)
_ACCEPT_TIP = (
    "Continues from the last checkpoint with the data as it is now. What the model learned from "
    "the previous data is kept; the run's events record the change."
)

_LONGER_TIP = (
    "Continues from the last checkpoint with more epochs, in the same folder. A learning rate that "
    "follows a schedule has the curve of the longer training from there on."
)
_PREDICT_TIP = (
    "Fills in the Session tab to predict with this run's model; choose the data there. Images, or "
    "a folder of them, can be dropped here instead."
)
_BOARD_TIP = (
    "Starts TensorBoard for this run and opens it in the browser. It answers on this machine only, "
    "to whoever is logged in there, and ends with this window."
)


class RunBanner(QFrame):
    """One line with the run's name and state; below it the problem that ended it, if any."""

    returnRequested = Signal()
    """Back to the run that goes on."""
    folderRequested = Signal()
    """The run's folder is to be opened in the file manager."""
    checkpointRequested = Signal()
    """The shown run is to save a checkpoint and go on."""
    settingsRequested = Signal()
    """The settings of the shown run are to be used for another one."""
    exportRequested = Signal(object)
    """The shown run is to be exported as that :class:`ExportFormat`, or its model as that
    :class:`ModelExportFormat`."""
    resumeRequested = Signal()
    """The shown run is to go on from its last checkpoint."""
    resumeOnSelectedRequested = Signal()
    """The same, with the devices that are chosen in the session."""
    changedDataAccepted = Signal()
    """It is to go on with its data as it is now, though that is other than before."""
    evaluateRequested = Signal()
    """What the shown run has learned is to be measured."""
    predictRequested = Signal()
    """What the shown run has learned is to be used."""
    longerRequested = Signal()
    """The shown run is to be trained for more epochs."""
    runRequested = Signal(object)
    """Another run is to be shown: its directory, a :class:`Path`."""
    tensorboardRequested = Signal()
    """TensorBoard is to show the run."""
    fixRequested = Signal(object)
    """The shown run is to be tried again with a change: its :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_banner")
        self._detail = ""
        self._links, self._offers_ways = RunLinks(), False
        self._make_words()
        self._make_buttons()
        self._fixes = FixButtons(self)
        self._fixes.setObjectName("ways_out")
        self._fixes.fixRequested.connect(self.fixRequested)
        self._compose()
        self.setRun("", "")

    def setRun(self, title: str, state: str) -> None:
        """Name the run that is shown, and say where it stands.

        Args:
            title: Empty: none is shown.
            state: Its state in words.
        """
        self._title.setText(title)
        self._state.setText(state)
        self._state.setToolTip(wrapped(state))
        self._folder.setVisible(bool(title))
        self._settings.setVisible(bool(title))
        self._export.setVisible(bool(title))
        self.setVisible(bool(title))

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
        self._resume.setVisible(actions.offers_resume)
        self._resume.setEnabled(actions.can_resume)
        self._resume.setToolTip(wrapped(actions.resume_tip))
        self._on_selected.setVisible(actions.offers_resume)
        self._on_selected.setEnabled(actions.can_resume_on_selected)
        self._on_selected.setToolTip(wrapped(actions.on_selected_tip))
        self._accept.setVisible(actions.offers_changed_data)
        self._evaluate.setVisible(actions.offers_evaluate)
        self._predict.setVisible(actions.offers_evaluate)
        self._longer.setVisible(actions.offers_longer)
        self._longer.setEnabled(actions.can_train_longer)
        self._board.setVisible(actions.offers_tensorboard)
        self._offers_ways = any(
            (
                actions.offers_resume,
                actions.offers_evaluate,
                actions.offers_longer,
                actions.offers_tensorboard,
            )
        )
        self._show_ways()

    def _show_ways(self) -> None:
        links = self._links
        has_links = links.origin is not None or bool(links.others)
        self._ways.setVisible(self._offers_ways or has_links)

    def setLinks(self, links: RunLinks) -> None:
        """Offer the runs that belong to the shown one by their model."""
        self._links = links
        self._origin.setVisible(links.origin is not None)
        if links.origin is not None:
            self._origin.setToolTip(wrapped(f"Shows {links.origin.title}, which saved this model"))
        count = len(links.others)
        self._others.setVisible(count > 0)
        self._others.setText(f"Runs of this model ({count:,})")
        self._show_ways()

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
        self._trouble.setVisible(problem is not None)
        if problem is None:
            return
        mark = "✕ " if problem.is_error else "! "
        self._message.setText(mark + problem.message)
        self._hint.setText(problem.hint)
        self._hint.setVisible(bool(problem.hint))
        parts = (problem_text(problem), "\n".join(log_tail))
        self._detail = "\n\n".join(part for part in parts if part)

    def setFixes(self, problem: Problem | None, *, can_try: bool = True) -> None:
        """Offer the changes that a problem proposes; nothing where it proposes none.

        Args:
            problem: What ended the run; ``None``: it goes on, or ended well.
            can_try: Whether no other run goes on now.
        """
        offers = problem is not None and problem.fix is not None
        self._again.setVisible(offers)
        self._fixes.setVisible(offers)
        self._fixes.setEnabled(can_try)
        if offers and problem is not None:
            self._fixes.setProblem(problem)

    def _make_words(self) -> None:
        self._title = _text(self, "shown_run", "title")
        # A run's name and what it reached may be longer than a small window is wide.
        self._state = ElidedLabel(parent=self)
        self._state.setObjectName("shown_state")
        self._state.setProperty("tone", "muted")
        self._card = _sentences(self, "run_card", "muted")
        self._story = _sentences(self, "run_story")
        self._memory = _sentences(self, "run_memory", "muted")
        self._memory.setToolTip(wrapped(_MEMORY_TIP))
        self._gaps = _sentences(self, "run_gaps", "muted")
        self._notice = _sentences(self, "run_notice", "muted")
        self._message = _sentences(self, "run_problem", "error")
        self._hint = _sentences(self)
        self._again = QLabel("Try again with", self)
        self._again.setProperty("tone", "muted")
        self._again.setContentsMargins(0, 8, 0, 0)
        self._again.setToolTip(wrapped(_AGAIN_TIP))

    def _make_buttons(self) -> None:
        self._ways = QWidget(self)
        self._ways.setObjectName("ways_on")
        make = self._button
        self._return = make("&Back to the current run", self.returnRequested)
        self._return.setToolTip("Shows the run that is in progress")
        self._checkpoint = make(_SAVE, self.checkpointRequested, "checkpoint_button")
        self._settings = make("Use these settin&gs", self.settingsRequested, "use_settings_button")
        self._export = QPushButton("E&xport", self)
        self._export.setObjectName("export_button")
        self._export.setToolTip(wrapped(EXPORT_TIP))
        exports = ExportMenu(self)
        exports.chosen.connect(self.exportRequested)
        self._export.setMenu(exports)
        self._folder = make("Open fol&der", self.folderRequested)
        self._folder.setToolTip("Opens the run's folder: events, log, checkpoints, the model")
        self._resume = make("Res&ume", self.resumeRequested, "resume_button")
        on_selected = self.resumeOnSelectedRequested
        self._on_selected = make(
            "Resume on selected devices", on_selected, "resume_elsewhere_button"
        )
        accepted = self.changedDataAccepted
        self._accept = make("Resume with the changed data", accepted, "accept_data_button")
        self._accept.setToolTip(wrapped(_ACCEPT_TIP))
        self._evaluate = make("E&valuate this model", self.evaluateRequested, "evaluate_button")
        self._evaluate.setToolTip(
            "Fills in the Session tab to evaluate this run's model on all devices"
        )
        self._predict = make("Predict with it", self.predictRequested, "predict_button")
        self._predict.setToolTip(wrapped(_PREDICT_TIP))
        self._longer = make("Train &longer…", self.longerRequested, "train_longer_button")
        self._longer.setToolTip(wrapped(_LONGER_TIP))
        board = self.tensorboardRequested
        self._board = make("Open TensorBoard", board, "tensorboard_button")
        self._board.setToolTip(wrapped(_BOARD_TIP))
        self._origin = QPushButton("Show training run", self)
        self._origin.setObjectName("origin_button")
        self._origin.setToolTip("Shows the run that saved this model")
        self._origin.clicked.connect(self._show_origin)
        self._others = QPushButton(self)
        self._others.setObjectName("model_runs_button")
        self._others.setToolTip("Evaluations and predictions that took this run's model")
        menu = QMenu(self)
        menu.aboutToShow.connect(self._list_others)
        self._others.setMenu(menu)
        self._copy = QPushButton("&Copy details", self)
        self._copy.setToolTip("Copies message, hint, detail and the end of the log")
        self._copy.clicked.connect(self._copy_details)

    def _button(self, text: str, pressed: SignalInstance, name: str = "") -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(pressed)
        return button

    def _compose(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._state, 1)
        head.addWidget(self._return)
        head.addWidget(self._checkpoint)
        head.addWidget(self._settings)
        head.addWidget(self._export)
        head.addWidget(self._folder)
        # In a second line where they are many.
        ways = FlowLayout(self._ways)
        for button in (
            self._resume,
            self._on_selected,
            self._accept,
            self._evaluate,
            self._predict,
            self._longer,
            self._board,
            self._origin,
            self._others,
        ):
            ways.addWidget(button)
        self._trouble = self._make_trouble()
        layout = column_in(self)
        layout.addLayout(head)
        layout.addWidget(self._card)
        layout.addWidget(self._story)
        layout.addWidget(self._trouble)
        layout.addWidget(self._memory)
        layout.addWidget(self._gaps)
        layout.addWidget(self._notice)
        layout.addWidget(self._ways)
        self._trouble.hide()
        self.setFixes(None)
        self.setCard("")
        self.setStory("")
        self.setMemory("")
        self.setGaps("")
        self.setNotice("")
        self.setActions(RunActions())
        self.setLinks(RunLinks())
        self.setSettingsReadable(readable=False)
        self._checkpoint.setToolTip("Saves a checkpoint after the next step; the run continues")
        self.setCheckpointOffer(None)
        self._return.hide()

    def _make_trouble(self) -> QFrame:
        """The card that says what ended the run, and offers fixes."""
        trouble = QFrame(self)
        trouble.setProperty("card", "true")
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        again = QHBoxLayout()
        again.setSpacing(8)
        again.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        again.addWidget(self._fixes, 1)
        row = QHBoxLayout()
        row.addLayout(words, 1)
        row.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        card = QVBoxLayout(trouble)
        card.setContentsMargins(16, 8, 16, 8)
        card.setSpacing(8)
        card.addLayout(row)
        card.addLayout(again)
        return trouble

    @Slot()
    def _show_origin(self) -> None:
        if self._links.origin is not None:
            self.runRequested.emit(self._links.origin.path)

    @Slot()
    def _list_others(self) -> None:
        menu = self._others.menu()
        menu.clear()
        for run in self._links.others:
            # An ampersand of a name is one, and no key.
            entry = menu.addAction(link_words(run).replace("&", "&&"))
            entry.triggered.connect(partial(self._show_other, run.path))

    def _show_other(self, path: Path, _is_checked: object = None) -> None:
        self.runRequested.emit(path)

    @Slot()
    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(self._detail)


def _text(parent: QWidget, name: str, role: str = "", tone: str = "") -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    label.setProperty("role", role)
    label.setProperty("tone", tone)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def _sentences(parent: QWidget, name: str = "", tone: str = "") -> QLabel:
    label = _text(parent, name, tone=tone)
    label.setWordWrap(True)
    return label
