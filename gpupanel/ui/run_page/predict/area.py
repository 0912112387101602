"""Single examples on the left, what the model says of them on the right."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QHideEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.asked_prediction import AskedColumn
from gpupanel.ui.dropped_files import IMAGE_FILES, kind_to_predict_on
from gpupanel.ui.run_page.predict.answer_list import AnswerList
from gpupanel.ui.run_page.predict.picture_input import MOST_AT_ONCE, PictureInput
from gpupanel.ui.run_page.predict.row_input import RowInput
from gpupanel.ui.run_page.predict.typed_text import TypedText
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_INPUT_WIDTH = 40 * GRID
_FLAT_HEIGHT = 14 * GRID
_FILES = {AskedKind.IMAGE: IMAGE_FILES, AskedKind.ARRAY: (*IMAGE_FILES, ".npy")}
_MOST = 2**24 - 1
"""Pixels: Qt's own limit."""


class SingleExamples(QWidget):
    """Takes one example after the other, as long as the model of the run can be asked.

    Who asks it connects to the signals, and puts the answers into :attr:`answers`.
    """

    picturesGiven = Signal(object)
    """Files were given, no more of those taken here than are answered at once: a tuple of str."""
    manyGiven = Signal(object)
    """Files that a run is to predict on: more, a folder, or no pictures; a tuple of str."""
    exampleChanged = Signal(str, object)
    """The row or the text is another: it in words, and its cells, or it."""
    kept = Signal()
    """The answer that is shown stays; the next row or text gets one of its own."""
    kindChanged = Signal()
    """Other examples are taken, or none."""
    seenChanged = Signal(bool)
    """Whether a person sees the area."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("single_examples")
        self._kind, self._is_ready = AskedKind.NONE, False
        self.pictures, self.rows, self.texts = PictureInput(), RowInput(), TypedText()
        self.answers = AnswerList()
        self._keep = QPushButton("&Keep this answer", self)
        self._keep.setObjectName("prediction_keep")
        self._keep.setToolTip(wrapped("Keeps it in the list; the next one stands above it"))
        self._keep.clicked.connect(self.kept)
        self.answers.answeredChanged.connect(self._keep.setEnabled)
        self._status = Note()
        self._status.setObjectName("prediction_status")
        typed = QFrame()
        typed.setProperty("card", "true")
        self._typed = QStackedWidget()
        for part in (self.rows, self.texts):
            self._typed.addWidget(part)
        column = QVBoxLayout(typed)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        column.setSpacing(GRID)
        column.addWidget(self._typed, 1)
        column.addWidget(self._keep, 0, Qt.AlignmentFlag.AlignLeft)
        self._inputs = QStackedWidget()
        for each in (self.pictures, typed):
            self._inputs.addWidget(each)
        self._card = typed
        self._given = QWidget()
        left = column_in(self._given, spacing=GRID)
        left.addWidget(self._inputs, 1)
        left.addWidget(self._status)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, GRID // 2, 0, GRID)
        self._row.addWidget(self._given)
        self._row.addWidget(self.answers, 1)
        self._lay_out(is_narrow=False)
        self.pictures.filesGiven.connect(self._sort_files)
        self.rows.rowGiven.connect(self.exampleChanged)
        self.texts.textGiven.connect(self.exampleChanged)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        paste.activated.connect(self._paste)
        self._paste_key = paste
        self.begin(AskedKind.NONE)

    @property
    def kind(self) -> AskedKind:
        """What is taken here."""
        return self._kind

    @property
    def files(self) -> tuple[str, ...]:
        """How the files end that are taken here; none: no files are."""
        return _FILES.get(self._kind, ())

    def begin(self, kind: AskedKind) -> None:
        """Take such examples from now on: another run is shown."""
        self._kind = kind
        self.answers.begin(kind)
        self.rows.clear()
        self.texts.clear()
        is_file = bool(_FILES.get(kind))
        self.pictures.begin(kind)
        self._inputs.setCurrentWidget(self.pictures if is_file else self._card)
        self._typed.setCurrentWidget(self.rows if kind is AskedKind.ROW else self.texts)
        self._paste_key.setEnabled(is_file)
        self.setReady(is_ready=False, words="")
        self._lay_out(is_narrow=self._is_narrow())
        self.kindChanged.emit()

    def setColumns(self, columns: tuple[AskedColumn, ...], count: int) -> None:
        """What a row has; see :meth:`RowInput.setColumns`."""
        self.rows.setColumns(columns, count)

    def setReady(self, *, is_ready: bool, words: str, tone: Tone = Tone.MUTED) -> None:
        """Take examples, or say why none can be given now.

        Args:
            is_ready: Whether they are taken.
            words: Below the input, in either case; empty: nothing.
            tone: How these are meant.
        """
        self._is_ready = is_ready
        self._inputs.setEnabled(is_ready)
        self._status.setText(words)
        self._status.setVisible(bool(words))
        set_tone(self._status, tone)

    def takes(self, paths: tuple[str, ...]) -> bool:
        """Whether these files are answered here and now: a few of those that are taken."""
        are_taken = all(path.lower().endswith(self.files) for path in paths)
        return self._is_ready and 0 < len(paths) <= MOST_AT_ONCE and are_taken

    def give(self, paths: tuple[str, ...]) -> bool:
        """Take these files where they are answered here; whether they are."""
        if not self.takes(paths):
            return False
        self.picturesGiven.emit(paths)
        return True

    @override
    def event(self, event: QEvent) -> bool:
        # How much room answers need is known once they are shown, and changes with what is above.
        if event.type() == QEvent.Type.LayoutRequest:
            self._lay_out(is_narrow=self._is_narrow())
        return super().event(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out(is_narrow=self._is_narrow())

    @override
    def minimumSizeHint(self) -> QSize:
        # That of one under the other, however they stand now.
        least = self._given.minimumSizeHint().expandedTo(self.answers.minimumSizeHint())
        return QSize(least.width(), super().minimumSizeHint().height())

    def _is_narrow(self) -> bool:
        """Whether there is no room for answers beside what is given."""
        return self.width() < _INPUT_WIDTH + 2 * GRID + self.answers.minimumSizeHint().width()

    def _lay_out(self, *, is_narrow: bool) -> None:
        """Beside each other, or one below the other: pictures are given above their answers.

        The answer to a row or a text stands above it: it is watched while sliders are dragged.
        """
        direction = QBoxLayout.Direction
        below = self._kind in (AskedKind.ROW, AskedKind.TEXT)
        narrow = direction.BottomToTop if below else direction.TopToBottom
        self._row.setDirection(narrow if is_narrow else direction.LeftToRight)
        self._row.setSpacing(GRID if is_narrow else 2 * GRID)
        self._given.setMinimumWidth(0 if is_narrow else _INPUT_WIDTH)
        self._given.setMaximumWidth(_MOST if is_narrow else _INPUT_WIDTH)
        is_flat = is_narrow and bool(self.files)
        self._given.setMaximumHeight(_FLAT_HEIGHT if is_flat else _MOST)
        self.pictures.setFlat(is_flat=is_flat)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seenChanged.emit(True)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.seenChanged.emit(False)

    @Slot(object)
    def _sort_files(self, paths: tuple[str, ...]) -> None:
        if self.give(paths):
            return
        if kind_to_predict_on(paths) is None:
            self.pictures.say_none()
        else:
            self.manyGiven.emit(paths)

    @Slot()
    def _paste(self) -> None:
        if self._is_ready:
            self.pictures.paste()
