"""The examples of a cell of the confusion matrix, or the worst mistakes, as images."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.examples_table import ExamplesTable
from gpupanel.ui.widgets.screen_fit import resize_within_screen


class ExamplesDialog(QDialog):
    """A title and a table of examples."""

    closed = Signal()
    """Nobody sees them any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("examples_dialog")
        self.setWindowTitle("Examples")
        self._title = QLabel()
        self._title.setObjectName("examples_title")
        self._title.setProperty("role", "title")
        self.table = ExamplesTable()
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._title)
        layout.addWidget(self.table, 1)
        layout.addLayout(buttons)
        resize_within_screen(self, 820, 640)

    def setReading(self, title: str, choice: ExampleChoice) -> None:
        """Show what is being read."""
        self._title.setText(visible_line(title))
        before = self.table.choice()
        if before is None or before.model_copy(update={"first": choice.first}) != choice:
            self.table.forget()
        self.table.setReading(choice)

    def setExamples(self, choice: ExampleChoice, found: ShownExamples) -> None:
        """Show them."""
        self.table.setExamples(choice, found)

    @override
    def hideEvent(self, arg__1: QHideEvent) -> None:
        super().hideEvent(arg__1)
        self.closed.emit()
