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
_NOTHING_TO_PASTE = "The clipboard holds no picture and no files."


class PictureInput(TakesFiles, QFrame):
    """A place with a dashed border, which is filled while something is dragged over it."""

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
        title = QLabel("Drop pictures here")
        title.setProperty("role", "title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._paste = paste = QLabel("or paste them with Ctrl+V")
        paste.setProperty("tone", "muted")
        paste.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.choose = QPushButton("&Choose…", self)
        self.choose.setObjectName("prediction_choose")
        self.choose.setToolTip("Chooses pictures that the model has not seen")
        set_role(self.choose, "primary")
        self.choose.clicked.connect(self.chooseRequested)
        self._note = Note(_SENTENCE)
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
        self._note.setText(words or _SENTENCE)
        self._note.setVisible(bool(words) or not self._paste.isHidden())

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
