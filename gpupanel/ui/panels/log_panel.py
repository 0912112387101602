"""What the trainer and TensorFlow print."""

from pathlib import Path

from PySide6.QtGui import QFontDatabase, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QWidget

from gpupanel.domain.visible_text import visible_lines
from gpupanel.runs.following.memory_text import size_words
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_MOST_LINES = 5_000
_LONGEST_PORTION = 256 * 1024
_LONGEST_LINE = 16 * 1024
"""A line that never ends, as progress bars write it, is broken here: the view keeps whole lines."""
_MOST_CHARACTERS = 2**20
"""Qt takes forty bytes for each that was drawn once: lines of 200 are all kept, of longer ones
fewer."""
_BYTES_PER_MIB = 2**20


class LogPanel(QWidget):
    """The trainer's log; follows its end while the end is in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log_panel")
        caption = QLabel("TRAINER LOG", self)
        caption.setProperty("role", "section")
        self._where = QLabel(self)
        self._where.setObjectName("trainer_log_where")
        self._where.setProperty("tone", "muted")
        self._where.setProperty("textSize", "small")
        self._path: Path | None = None
        self._held_back = ""
        self._skipped_bytes = 0
        self._text = QPlainTextEdit(self)
        self._text.setObjectName("trainer_log")
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(_MOST_LINES)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlaceholderText(
            "The output of TensorFlow and the trainer appears here during a run."
        )
        self._text.setToolTip(
            "Output of the training process, TensorFlow's own messages among it. "
            f"At most the last {_MOST_LINES:,} lines; "
            "the whole log is trainer.log in the run's folder."
        )
        head = QHBoxLayout()
        head.addWidget(caption)
        head.addStretch(1)
        head.addWidget(self._where)
        layout = column_in(self, spacing=4)
        layout.addLayout(head)
        layout.addWidget(self._text, 1)

    def clear(self, path: Path | None = None) -> None:
        """Show the log of another run, which is the file at ``path``."""
        self._text.clear()
        self._held_back = ""
        self._skipped_bytes = 0
        self._path = path
        self._show_where()

    def append(self, text: str, skipped_bytes: int = 0) -> None:
        """Add what was printed; of a long portion only the end, which is all that is kept.

        Args:
            text: What follows what was added last.
            skipped_bytes: How much of the file was left out before it.
        """
        if skipped_bytes:
            self._skipped_bytes += skipped_bytes
            self._show_where()
            text = f"\n…\n{text}" if self._text.document().characterCount() > 1 else text
        if not text:
            return
        if len(text) > _LONGEST_PORTION:
            text = text[-_LONGEST_PORTION:].partition("\n")[2] or text[-_LONGEST_PORTION:]
        bar = self._text.verticalScrollBar()
        was_at_end = bar.value() >= bar.maximum() - 1
        # A cursor of its own: neither the person's selection nor the view moves.
        cursor = QTextCursor(self._text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        text = visible_lines(text.replace("\r\n", "\n").replace("\r", "\n"))
        text = self._held_back + text
        if cursor.block().length() > _LONGEST_LINE:
            text = "\n" + text
        # The last line's end waits for the next line, so that no empty line is shown below it.
        whole = text.rstrip("\n")
        self._held_back = text[len(whole) :]
        cursor.insertText(whole)
        self._drop_first()
        if was_at_end:
            bar.setValue(bar.maximum())

    def text(self) -> str:
        """What is shown."""
        return self._text.toPlainText()

    def _drop_first(self) -> None:
        """Keep no more characters than may be, in whole lines."""
        cursor = QTextCursor(self._text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        excess = cursor.position() - _MOST_CHARACTERS
        if excess > 0:
            cursor.setPosition(0)
            cursor.setPosition(excess, QTextCursor.MoveMode.KeepAnchor)
            cursor.movePosition(
                QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor
            )
            cursor.removeSelectedText()

    def _show_where(self) -> None:
        name = "" if self._path is None else self._path.name
        tip = "" if self._path is None else str(self._path)
        if self._skipped_bytes:
            left_out = size_words(max(1, round(self._skipped_bytes / _BYTES_PER_MIB)))
            name = f"{name}, {left_out} left out"
            tip = f"Only the end of a long log is shown. The whole log is\n{tip}"
        self._where.setText(name)
        self._where.setToolTip(wrapped(tip))
