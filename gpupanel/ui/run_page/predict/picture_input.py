"""Where pictures are dropped, pasted or chosen."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QWidget
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.ui import theme
from gpupanel.ui.dropped_files import local_paths
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.file_drops import TakesFiles
from gpupanel.ui.widgets.labels import Note, set_role

MOST_AT_ONCE = 50
"""More pictures are predicted by a run."""
_RADIUS = 8.0
_SENTENCE = (
    f"Up to {MOST_AT_ONCE} are answered here; of more, or of a folder, a run makes a table and a "
    "file."
)
_TITLES = {
    AskedKind.IMAGE: "Drop pictures here",
    AskedKind.ARRAY: "Drop pictures or .npy files here",
}
_TITLE_OF_ARRAYS = "Drop .npy files here"
_PASTE, _PASTE_FILES = "or paste them with Ctrl+V", "or paste the files with Ctrl+V"
_NO_ARRAYS = "These are no pictures and no .npy files."
_NOTHING_TO_PASTE = "The clipboard holds no picture and no files."


class PictureInput(TakesFiles, QFrame):
    """A place with a dashed border, which is filled while something is dragged over it."""

    sends_files = True

    filesGiven = Signal(object)
    """Files were dropped or pasted: their paths, a tuple of str."""
    imageGiven = Signal(QImage)
    """A picture was pasted."""
    chooseRequested = Signal()
    """Files are to be chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prediction_pictures")
        self.setAccessibleName("Pictures to predict on")
        self.setAcceptDrops(True)
        self._is_over = False
        self._kind, self._sentence = AskedKind.IMAGE, _SENTENCE
        self._title = title = QLabel(_TITLES[AskedKind.IMAGE])
        title.setObjectName("prediction_drop_title")
        title.setProperty("role", "title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._paste = paste = QLabel(_PASTE)
        paste.setProperty("tone", "muted")
        paste.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.choose = QPushButton("&Choose…", self)
        self.choose.setObjectName("prediction_choose")
        self.choose.setToolTip("Chooses examples that the model has not seen")
        set_role(self.choose, "primary")
        self.choose.clicked.connect(self.chooseRequested)
        self._note = Note(_SENTENCE)
        self._note.setObjectName("prediction_takes")
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setSpacing(GRID)
        self._layout.addStretch(1)
        for part in (title, paste, self.choose):
            self._layout.addWidget(part, 0, Qt.AlignmentFlag.AlignCenter)
        self._layout.addWidget(self._note)
        self._layout.addStretch(1)
        self.setFlat(is_flat=False)

    def setFlat(self, *, is_flat: bool) -> None:
        """Take one line, as beside little room, or the height there is."""
        direction = QBoxLayout.Direction
        self._layout.setDirection(direction.LeftToRight if is_flat else direction.TopToBottom)
        above = GRID if is_flat else 3 * GRID
        self._layout.setContentsMargins(2 * GRID, above, 2 * GRID, above)
        for part in (self._paste, self._note):
            part.setVisible(not is_flat)

    def begin(self, kind: AskedKind) -> None:
        """Take pictures, or files of numbers: another model is asked."""
        self._kind = kind
        self.setTaken("", are_pictures=True)

    def setTaken(self, words: str, *, are_pictures: bool) -> None:
        """Say which files the model takes.

        Args:
            words: What becomes of them; empty: that is not known, or nothing has to be said.
            are_pictures: Whether it takes pictures.
        """
        self._title.setText(_TITLES.get(self._kind, "") if are_pictures else _TITLE_OF_ARRAYS)
        self._paste.setText(_PASTE if are_pictures else _PASTE_FILES)
        is_array = self._kind is AskedKind.ARRAY
        self._sentence = words or ("" if is_array else _SENTENCE)
        self.say("")

    @Slot()
    def paste(self) -> None:
        """Take what is on the clipboard: files, or else a picture."""
        there = QGuiApplication.clipboard().mimeData()
        paths = local_paths(there)
        image = None if paths else there.imageData()
        self.say("")
        if paths:
            self.filesGiven.emit(paths)
        elif isinstance(image, QImage) and not image.isNull():
            self.imageGiven.emit(image)
        else:
            self.say(_NOTHING_TO_PASTE)

    def say(self, words: str) -> None:
        """Say that below; empty: what is said at first."""
        self._note.setText(words or self._sentence)
        self._note.setVisible(bool(words) or not self._paste.isHidden())

    def say_none(self) -> None:
        """Say that none of these files is taken."""
        is_array = self._kind is AskedKind.ARRAY
        self.say(_NO_ARRAYS if is_array else "These are no pictures, and no folder.")

    @override
    def can_take(self, paths: tuple[str, ...]) -> bool:
        return bool(paths)

    @override
    def take(self, paths: tuple[str, ...]) -> None:
        self.filesGiven.emit(paths)

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        colors, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_over = self._is_over and self.isEnabled()
        pen = QPen(colors.color("accent" if is_over else "strong_border"), 1.5)
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        fill: QColor = colors.color("selection" if is_over else "surface")
        painter.setBrush(fill)
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    @override
    def show_hovered(self, *, is_hovered: bool) -> None:
        self._is_over = is_hovered
        self.update()
