"""What the trainer and TensorFlow print."""

from pathlib import Path

from PySide6.QtGui import QFontDatabase, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

_MOST_LINES = 5_000
_LONGEST_PORTION = 256 * 1024


class LogPanel(QWidget):
    """The trainer's log; follows its end while the end is in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log_panel")
        caption = QLabel("TRAINER LOG", self)
        caption.setProperty("role", "section")
        self._where = QLabel(self)
        self._where.setProperty("tone", "muted")
        self._where.setProperty("textSize", "small")
        self._held_back = ""
        self._text = QPlainTextEdit(self)
        self._text.setObjectName("trainer_log")
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(_MOST_LINES)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlaceholderText(
            "What TensorFlow and the trainer print appears here while a run goes on."
        )
        self._text.setToolTip(
            "Output of the training process, TensorFlow's own messages among it. "
            f"The last {_MOST_LINES:,} lines; the whole log is trainer.log in the run's folder."
        )
        head = QHBoxLayout()
        head.addWidget(caption)
        head.addStretch(1)
        head.addWidget(self._where)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._text, 1)

    def clear(self, path: Path | None = None) -> None:
        """Show the log of another run, which is the file at ``path``."""
        self._text.clear()
        self._held_back = ""
        self._where.setText("" if path is None else path.name)
        self._where.setToolTip("" if path is None else str(path))

    def append(self, text: str) -> None:
        """Add what was printed; of a long portion only the end, which is all that is kept."""
        if not text:
            return
        if len(text) > _LONGEST_PORTION:
            text = text[-_LONGEST_PORTION:].partition("\n")[2] or text[-_LONGEST_PORTION:]
        bar = self._text.verticalScrollBar()
        was_at_end = bar.value() >= bar.maximum() - 1
        # A cursor of its own: neither the person's selection nor the view moves.
        cursor = QTextCursor(self._text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        text = self._held_back + text.replace("\r\n", "\n").replace("\r", "\n")
        # The last line's end waits for the next line, so that no empty line is shown below it.
        whole = text.rstrip("\n")
        self._held_back = text[len(whole) :]
        cursor.insertText(whole)
        if was_at_end:
            bar.setValue(bar.maximum())

    def text(self) -> str:
        """What is shown."""
        return self._text.toPlainText()
