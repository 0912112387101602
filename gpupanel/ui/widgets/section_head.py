"""The title of a section: folds it, and says in short what is in it while it is folded."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped


class SectionHead(QWidget):
    """A title that folds what belongs to it: a button with an arrow.

    Args:
        title: Shown in capitals.
    """

    folded = Signal(bool)
    """What belongs to it is to be hidden, or shown again."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_folded = False
        row = row_in(self)
        self.words = ElidedLabel(parent=self)
        self.words.setProperty("textSize", "small")
        self.words.hide()
        self._button = QToolButton(self)
        self._button.setText(title.upper())
        self._button.setProperty("role", "section")
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setArrowType(Qt.ArrowType.DownArrow)
        self._button.setCheckable(True)
        self._button.setChecked(True)
        self._button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        teach(self._button, title, f"Folds or unfolds the section {title}")
        self._button.toggled.connect(self._turn)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self.words, 1)

    @property
    def is_folded(self) -> bool:
        """Whether what belongs to it is hidden."""
        return self._is_folded

    def set_folded(self, *, folded: bool) -> None:
        """Fold it or unfold it."""
        self._button.setChecked(not folded)

    def set_words(self, words: str, *, is_error: bool) -> None:
        """Say in short what is in it."""
        self.words.setText(words)
        self.words.setToolTip(wrapped(words))
        set_tone(self.words, Tone.ERROR if is_error else Tone.MUTED)

    @Slot(bool)
    def _turn(self, open_: bool) -> None:
        self._is_folded = not open_
        self._button.setArrowType(Qt.ArrowType.DownArrow if open_ else Qt.ArrowType.RightArrow)
        self.words.setVisible(self._is_folded)
        self.folded.emit(self._is_folded)
