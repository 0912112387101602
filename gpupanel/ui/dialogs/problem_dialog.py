"""Problems in a dialog, as text that can be copied."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problems_text
from gpupanel.domain.visible_text import visible_lines
from gpupanel.ui.widgets.screen_fit import resize_within_screen


class ProblemDialog(QDialog):
    """Problems as sentences, with what to do and what stands behind them."""

    def __init__(self, title: str, problems: Sequence[Problem], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("problem_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("gpupanel")
        self.setModal(True)
        heading = QLabel(visible_lines(title), self)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        heading.setProperty("role", "title")
        heading.setWordWrap(True)
        self._text = QPlainTextEdit(self)
        self._text.setReadOnly(True)
        self._text.setAccessibleName("Problems")
        self._text.setPlainText(problems_text(problems))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = QPushButton("&Copy", self)
        copy.setToolTip("Copies all of this text")
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self._copy)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(self._text, 1)
        layout.addWidget(buttons)
        resize_within_screen(self, 640, 320)

    def text(self) -> str:
        """All that it says."""
        return self._text.toPlainText()

    def _copy(self) -> None:
        self._text.selectAll()
        self._text.copy()
