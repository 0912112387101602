"""Where the predictions of a run are, and what is in the file."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.examples_table import ExamplesTable
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.workers.workplace import workplace

_CONTENTS = {
    ".npz": "The file holds NumPy arrays: index (the example's position in the data), predicted "
    "and probabilities (or values), label and file_name where they are known, class_names; of a "
    "model that gives arrays an array for each of its output_names. numpy.load reads it.",
    ".csv": "The file is a table: index (the example's position in the data), its file where it is "
    "one, the predicted class by name and number and the probability of each (or the value), label "
    "where it is known.",
}
_DROP = (
    "Drop pictures, or data such as that of the training, here to predict on it with the same "
    "model."
)


class PredictionsView(QWidget):
    """The file's place, with buttons to open its folder, to copy it and to copy its path."""

    folderRequested = Signal()
    """The folder that holds the file is to be opened."""
    saveRequested = Signal(str)
    """A copy of the file of that name is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(self)
        self._title.setProperty("role", "title")
        self._path = QLabel(self)
        self._path.setObjectName("predictions_path")
        self._path.setTextFormat(Qt.TextFormat.PlainText)
        self._path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._contents = QLabel(self)
        self._contents.setProperty("tone", "muted")
        for label in (self._path, self._contents):
            label.setWordWrap(True)
        self._folder = QPushButton("Open fol&der", self)
        self._folder.setProperty("role", "primary")
        self._folder.setToolTip("Opens the run's folder, where the file is, in the file manager")
        self._save = QPushButton("&Save a copy…", self)
        self._save.setObjectName("predictions_save")
        self._save.setToolTip("Saves the file to a place of this machine that you choose")
        self._copy = QPushButton("&Copy path", self)
        self._copy.setToolTip("Copies the whole path of the file")
        self.table = ExamplesTable(self)
        self._folder.clicked.connect(self.folderRequested)
        self._folder.setHidden(bool(workplace().host))  # it is no folder of this machine
        self._save.clicked.connect(self._request_copy)
        self._copy.clicked.connect(self._copy_path)
        self._compose()

    def setPredictions(self, path: Path, examples: int, speed: float | None) -> None:
        """Say where they are.

        Args:
            path: The file.
            examples: How many predictions it holds.
            speed: Examples a second.
        """
        self._title.setText(
            f"{formatting.count(examples)} predictions are saved, made at {formatting.rate(speed)}"
        )
        self._whole_path, self._name = workplace().path_of(path), path.name
        self._path.setText(_breakable(self._whole_path))
        self._path.setAccessibleName(visible_line(self._whole_path))
        self._contents.setText(f"{_CONTENTS.get(path.suffix, '')} {_DROP}".strip())

    def forget(self) -> None:
        """What is shown was of another run."""
        self.table.forget()

    def _compose(self) -> None:
        self._whole_path = self._name = ""
        card = QFrame(self)
        card.setProperty("card", "true")
        column = QVBoxLayout(card)
        column.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        column.setSpacing(GRID)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._folder)
        buttons.addWidget(self._save)
        buttons.addWidget(self._copy)
        buttons.addStretch(1)
        for label in (self._title, self._path, self._contents):
            column.addWidget(label)
        column.addLayout(buttons)
        whole = column_in(self)
        whole.addWidget(card)
        whole.addWidget(self.table, 1)

    @Slot()
    def _request_copy(self) -> None:
        self.saveRequested.emit(self._name)

    @Slot()
    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(self._whole_path)


def _breakable(path: str) -> str:
    """The path with places where a line may end: a path has no spaces to break at."""
    return visible_line(path).replace("/", "/\N{ZERO WIDTH SPACE}")
