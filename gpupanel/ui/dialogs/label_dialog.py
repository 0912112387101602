"""Naming a run, giving it tags, and noting something about it."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from gpupanel.runs.history.label import LONGEST_NAME, LONGEST_NOTES, RunLabel, beyond_tags
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.bounded_text import BoundedText
from gpupanel.ui.widgets.screen_fit import resize_within_screen


class LabelDialog(QDialog):
    """Asks for a run's name, tags and notes; nothing is kept before Save.

    Args:
        run: What it is called and what was noted so far.
        at_notes: Begin to write in the notes, not in the name.
    """

    def __init__(self, run: RunSummary, parent: QWidget | None, *, at_notes: bool) -> None:
        super().__init__(parent)
        self.setObjectName("label_dialog")
        self.setWindowTitle("Name, tags and notes")
        self._name = QLineEdit(run.label, self)
        self._name.setObjectName("label_name")
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setPlaceholderText(run.profile_name)
        self._name.setToolTip("Empty: the profile's name")
        self._name.selectAll()
        self._tags = QLineEdit(", ".join(run.tags), self)
        self._tags.setObjectName("label_tags")
        self._tags.setPlaceholderText("baseline, try again")
        self._tags.setToolTip("Short words, with commas between them; tag:baseline finds the run")
        self._notes = BoundedText(run.notes, LONGEST_NOTES, self)
        self._notes.setObjectName("label_notes")
        self._notes.setTabChangesFocus(True)
        self._notes.setPlaceholderText("Notes about this run")
        self._beyond = QLabel(self)
        self._beyond.setObjectName("label_beyond")
        self._beyond.setProperty("tone", "warning")
        self._beyond.setWordWrap(True)
        self._beyond_notes = ""
        self._notes.exceeded.connect(self._note_beyond)
        self._tags.textChanged.connect(self._show_beyond)
        self._show_beyond()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self._compose(run, buttons)
        (self._notes if at_notes else self._name).setFocus()
        resize_within_screen(self, 60 * GRID, 40 * GRID)

    def label(self) -> RunLabel:
        """What was written."""
        return RunLabel(
            name=self._name.text(),
            notes=self._notes.toPlainText(),
            tags=tuple(self._tags.text().split(",")),
        )

    @Slot(str)
    def _note_beyond(self, words: str) -> None:
        self._beyond_notes = words
        self._show_beyond()

    @Slot()
    def _show_beyond(self) -> None:
        said = filter(None, (beyond_tags(self._tags.text()), self._beyond_notes))
        self._beyond.setText("\n".join(said))
        self._beyond.setVisible(bool(self._beyond.text()))

    def _compose(self, run: RunSummary, buttons: QDialogButtonBox) -> None:
        name, tags, notes = QLabel("&Name"), QLabel("&Tags"), QLabel("N&otes")
        folder = QLabel(run.name)
        name.setBuddy(self._name)
        tags.setBuddy(self._tags)
        notes.setBuddy(self._notes)
        folder.setProperty("tone", "muted")
        folder.setTextFormat(Qt.TextFormat.PlainText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        fields = (name, self._name, tags, self._tags, notes, self._notes)
        for widget in (*fields, self._beyond, folder, buttons):
            layout.addWidget(widget)
