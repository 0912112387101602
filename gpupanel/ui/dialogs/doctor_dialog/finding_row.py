"""One thing that the doctor found: what, what to do, the command, the detail behind it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_title
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.fold_button import FoldButton
from gpupanel.ui.widgets.prose_label import ProseLabel
from gpupanel.ui.widgets.severity_icon import SeverityIcon

_DETAIL_HEIGHT = 16 * GRID


class FindingRow(QFrame):
    """A problem of the machine, which no change to the profile mends."""

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("problem", "true")
        words = QVBoxLayout()
        words.setSpacing(GRID)
        words.addWidget(_prose(problem_title(problem)))
        if problem.hint:
            words.addWidget(_prose(problem.hint, tone="muted"))
        if problem.command:
            words.addWidget(CommandLine(problem.command))
        if problem.detail:
            self._add_detail(words, problem.detail)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(SeverityIcon(problem.severity), 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)

    def _add_detail(self, words: QVBoxLayout, detail: str) -> None:
        text = QPlainTextEdit(detail)
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setProperty("role", "code")
        text.setFixedHeight(_DETAIL_HEIGHT)
        text.setAccessibleName("Detail")
        text.hide()
        fold = FoldButton("Detail")
        fold.toggled.connect(text.setVisible)
        fold.setToolTip("Technical detail, such as TensorFlow's own message.")
        words.addWidget(fold, 0, Qt.AlignmentFlag.AlignLeft)
        words.addWidget(text)


def _prose(text: str, tone: str = "") -> ProseLabel:
    label = ProseLabel(tone)
    label.setProse(text)
    return label
