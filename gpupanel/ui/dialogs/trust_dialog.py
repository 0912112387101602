"""Shows Python code that a run would carry out, and asks whether to trust it."""

import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.workers.workplace import machine_name

_WHAT: Final = {
    "model.path": "the model",
    "model.measures": "loss and metrics",
    "data.path": "the data",
    "script.path": "the program",
    "script": "how the program is started",
}
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that are not seen, or that change the order in which others are shown."""
_EXPLANATION = (
    "It can do whatever you can do on {machine}: read, change and send files. Start it only if "
    "you know what it does. You are not asked again until its content changes."
)


class TrustDialog(QDialog):
    """The path and the content of each file; the safe answer is the one that Enter gives."""

    def __init__(self, code: Sequence[UserCode], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust_question")
        self.setWindowTitle("Python code")
        self.setModal(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        several = len(code) > 1
        heading = QLabel(
            "This run executes Python code that was not run in this form before."
            if not several
            else f"This run executes {len(code)} files of Python code that were not run in "
            "this form before.",
            self,
        )
        heading.setProperty("role", "title")
        heading.setWordWrap(True)
        layout.addWidget(heading)
        explanation = QLabel(_EXPLANATION.format(machine=machine_name()), self)
        explanation.setWordWrap(True)
        layout.addWidget(explanation)
        for each in code:
            self._add(each, layout)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        trust = buttons.addButton("&Trust and start", QDialogButtonBox.ButtonRole.AcceptRole)
        trust.setObjectName("trust_button")
        trust.setAutoDefault(False)
        cancel = buttons.button(QDialogButtonBox.StandardButton.Cancel)
        cancel.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addWidget(buttons)
        resize_within_screen(self, 720, 480 if not several else 640)
        cancel.setFocus()

    def _add(self, code: UserCode, layout: QVBoxLayout) -> None:
        path = QLabel(visible_line(str(code.path)), self)
        path.setTextFormat(Qt.TextFormat.PlainText)
        path.setWordWrap(True)
        path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        what = _WHAT.get(code.key, "the code")
        path.setAccessibleName(f"The file of {what}")
        text = QPlainTextEdit(self)
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setPlainText(shown_code(code.content))
        text.setAccessibleName(f"The code of {what}")
        fingerprint = QLabel(f"sha256 {code.sha256}", self)
        fingerprint.setProperty("tone", "muted")
        layout.addWidget(path)
        layout.addWidget(text, 1)
        layout.addWidget(fingerprint)


def shown_code(content: bytes) -> str:
    """The code as text in which nothing hides: characters that are not seen are named."""
    text = content.decode(errors="replace")
    return _HIDDEN.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)
