"""A label for sentences, which fills its place and breaks lines wherever it must."""

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gpupanel.domain.visible_text import visible_lines

_LONGEST_WORD = 24


class ProseLabel(QLabel):
    """Plain text in as many lines as its width asks for; it never asks for a width itself.

    Args:
        tone: How it is meant, as the style sheet colours it.
    """

    def __init__(self, tone: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        if tone:
            self.setProperty("tone", tone)

    def setProse(self, prose: str) -> None:
        """Shows a text; words that are too long for a line, such as names, may be broken."""
        shown = visible_lines(prose)
        self.setText(re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", "\\1\N{ZERO WIDTH SPACE}", shown))
