"""A field for a text of several lines that takes no more of a paste than can be kept."""

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from typing_extensions import override


class BoundedText(QPlainTextEdit):
    """Qt lays out all that is pasted, which takes minutes for a file of millions of lines.

    Args:
        text: What stands in it at first.
        most: Characters that can be kept.
        parent: Owns it.
    """

    exceeded = Signal(str)
    """More was pasted or typed than can be kept: what becomes of it; empty: it fits again."""

    def __init__(self, text: str, most: int, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._most = most
        self.textChanged.connect(self._count)

    @override
    def insertFromMimeData(self, source: QMimeData) -> None:
        text, cursor = source.text(), self.textCursor()
        chosen = cursor.selectionEnd() - cursor.selectionStart()
        room = max(0, self._most - self._characters() + chosen)
        if len(text) <= room:
            super().insertFromMimeData(source)
            return
        self.textCursor().insertText(text[:room])
        self.exceeded.emit(f"At most {self._most:,} characters: the rest was not pasted.")

    def _characters(self) -> int:
        return self.document().characterCount() - 1  # the end of the last line is none

    def _count(self) -> None:
        is_beyond = self._characters() > self._most
        words = f"At most {self._most:,} characters: what is beyond them is not kept."
        self.exceeded.emit(words if is_beyond else "")
