"""What the trainer and TensorFlow print."""

from collections import Counter, deque
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontDatabase, QTextBlock, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QWidget

from gpupanel.domain.number_text import memory_size
from gpupanel.domain.visible_text import visible_lines
from gpupanel.runs.following.log_lines import LineKind, as_in_terminal, line_kind
from gpupanel.ui import formatting
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import teach, wrapped

_MOST_LINES = 5_000
_LONGEST_PORTION = 256 * 1024
_LONGEST_LINE = 16 * 1024
"""A line that never ends, as progress bars write it, is broken here: the view keeps whole lines."""
_MOST_CHARACTERS = 2**20
"""Qt takes forty bytes for each that was drawn once: lines of 200 are all kept, of longer ones
fewer."""
_BYTES_PER_MIB = 2**20
_WIDEST_SEARCH = 200
_LONGEST_SEARCH = 200
_NOTHING_YET = "The output of TensorFlow and the trainer appears here during a run."
_NO_OUTPUT = "No output recorded"
_ALL_FOLDED = "Only what TensorFlow prints in every run, folded away above."


class LogPanel(QWidget):
    """The trainer's log; follows its end while the end is in view.

    What TensorFlow prints in every run is folded away; a search finds it all the same.
    """

    attentionChanged = Signal(str)
    """How many lines are warnings or errors, in words; empty: none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log_panel")
        self._told = ""
        self._where = QLabel(self)
        self._where.setObjectName("trainer_log_where")
        self._where.setProperty("tone", "muted")
        self._where.setProperty("textSize", "small")
        self._path: Path | None = None
        self._held_back = ""
        self._is_rewritten = False
        self._skipped_bytes = 0
        self._text = QPlainTextEdit(self)
        self._text.setObjectName("trainer_log")
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(_MOST_LINES)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setComplete(is_complete=False)
        self._text.setToolTip(
            "Output of the training process, TensorFlow's own messages among it. "
            f"At most the last {_MOST_LINES:,} lines; "
            "the whole log is trainer.log in the run's folder."
        )
        self._text.setAccessibleName("Trainer log")
        self._folded = Note(_ALL_FOLDED, parent=self._text)
        self._folded.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self._folded.setWordWrap(False)
        self._folded.move(12, 10)
        self._kinds: deque[LineKind] = deque()
        """The kind of each line that is kept."""
        self._counts: Counter[LineKind] = Counter()
        self._make_filters()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._start_up)
        head.addStretch(1)
        head.addWidget(self._where)
        head.addWidget(self._found)
        head.addWidget(self._attention)
        head.addWidget(self._search)
        layout = column_in(self, spacing=4)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(head)
        layout.addWidget(self._text, 1)

    def begin_search(self) -> None:
        """Have a person type what is searched for."""
        self._search.setFocus()
        self._search.selectAll()

    def setComplete(self, *, is_complete: bool) -> None:
        """Whether the run ended, and all of its log was added: an empty one says so."""
        self._text.setPlaceholderText(_NO_OUTPUT if is_complete else _NOTHING_YET)

    def clear(self, path: Path | None = None) -> None:
        """Show the log of another run, which is the file at ``path``."""
        self._text.clear()
        self._kinds.clear()
        self._counts.clear()
        self._start_up.setChecked(False)
        self._attention.setChecked(False)
        self._search.clear()
        self._show_counts()
        self._held_back = ""
        self._is_rewritten = False
        self._skipped_bytes = 0
        self._path = path
        self._show_where()
        self.setComplete(is_complete=False)

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
        text, writes_over = as_in_terminal(self._held_back + text, self._is_rewritten)
        self._is_rewritten = text.endswith("\r")
        text = visible_lines(text.removesuffix("\r"))
        if writes_over:
            cursor.movePosition(
                QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor
            )
            cursor.removeSelectedText()
        if cursor.block().length() > _LONGEST_LINE:
            text = "\n" + text
        # The last line's end waits for the next line, so that no empty line is shown below it.
        whole = text.rstrip("\n")
        self._held_back = text[len(whole) :]
        cursor.insertText(whole)
        self._drop_first()
        self._sort(whole.count("\n") + 1)
        if was_at_end:
            bar.setValue(bar.maximum())

    def text(self) -> str:
        """What is shown."""
        return self._text.toPlainText()

    def _make_filters(self) -> None:
        self._start_up = FoldButton("")
        self._start_up.setObjectName("log_start_up")
        self._start_up.setProperty("textSize", "small")
        tip = "Shows what TensorFlow prints in every run: it needs no action."
        self._start_up.setToolTip(wrapped(tip))
        self._start_up.toggled.connect(self._turn_start_up)
        self._attention = QPushButton(self)
        self._attention.setObjectName("log_warnings")
        self._attention.setCheckable(True)
        self._attention.setToolTip("Shows only warnings and errors")
        self._attention.toggled.connect(self._show_lines)
        self._search = QLineEdit(self)
        self._search.setObjectName("log_search")
        self._search.setPlaceholderText("Search the log")
        self._search.setClearButtonEnabled(True)
        self._search.setMaximumWidth(_WIDEST_SEARCH)
        self._search.setMaxLength(_LONGEST_SEARCH)
        teach(self._search, "Search the log", "Shows only lines that have this text (Ctrl+F)")
        self._search.textChanged.connect(self._show_lines)
        self._found = QLabel(self)
        self._found.setObjectName("log_found")
        self._found.setProperty("tone", "muted")
        self._found.setProperty("textSize", "small")
        self._show_counts()

    def _sort(self, added: int) -> None:
        """Find out the kinds of the last lines, the first of which may only have become longer."""
        document = self._text.document()
        count = document.blockCount()
        if self._kinds:
            self._counts[self._kinds.pop()] -= 1
        new = min(added, count)
        block = document.findBlockByNumber(count - new)
        before = self._kinds[-1] if self._kinds else LineKind.PLAIN
        hides = False
        while block.isValid():
            before = line_kind(block.text(), before)
            self._kinds.append(before)
            self._counts[before] += 1
            hides |= self._show_line(block, before)
            block = block.next()
        while len(self._kinds) > count:
            self._counts[self._kinds.popleft()] -= 1
        self._show_counts()
        if hides:
            self._lay_out()

    @Slot()
    def _show_lines(self) -> None:
        """Show the lines that are asked for, and hide all others."""
        bar = self._text.verticalScrollBar()
        was_at_end = bar.value() >= bar.maximum() - 1
        block = self._text.document().begin()
        for kind in self._kinds:
            self._show_line(block, kind)
            block = block.next()
        self._lay_out()
        self._show_counts()
        if was_at_end:
            bar.setValue(bar.maximum())

    @Slot(bool)
    def _turn_start_up(self, shown: bool) -> None:
        """Those lines are the first ones: they are scrolled to, and left again."""
        self._show_lines()
        bar = self._text.verticalScrollBar()
        bar.setValue(0 if shown else bar.maximum())

    def _show_line(self, block: QTextBlock, kind: LineKind) -> bool:
        """Show a line or hide it; says whether that changed."""
        words = self._search.text()
        is_shown = kind.needs_attention or not self._attention.isChecked()
        if words:
            is_shown = is_shown and words.casefold() in block.text().casefold()
        elif kind is LineKind.START_UP:
            is_shown = is_shown and self._start_up.isChecked()
        if is_shown is block.isVisible():
            return False
        block.setVisible(is_shown)
        block.setLineCount(int(is_shown))
        return True

    def _lay_out(self) -> None:
        """Have the view notice which lines are hidden: a document reports only changes of text."""
        document = self._text.document()
        document.markContentsDirty(0, document.characterCount())
        layout = document.documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())
        self._text.viewport().update()

    def _show_counts(self) -> None:
        routine = self._counts[LineKind.START_UP]
        self._start_up.setText(f"{_lines(routine)} of TensorFlow's start-up")
        self._start_up.setVisible(routine > 0)
        attention = sum(count for kind, count in self._counts.items() if kind.needs_attention)
        self._attention.setText(f"Warnings: {_lines(attention)}" if attention else "No warnings")
        words = _warnings(attention)
        if words != self._told:
            self._told = words
            self.attentionChanged.emit(words)
        self._attention.setEnabled(bool(attention) or self._attention.isChecked())
        is_filtered = bool(self._search.text()) or self._attention.isChecked()
        self._start_up.setEnabled(not is_filtered)
        # What is folded away has its width all the same.
        has_lines = is_filtered or self._start_up.isChecked() or len(self._kinds) > routine
        self._folded.setVisible(routine > 0 and not has_lines)
        policy = Qt.ScrollBarPolicy
        self._text.setHorizontalScrollBarPolicy(
            policy.ScrollBarAsNeeded if has_lines else policy.ScrollBarAlwaysOff
        )
        self._found.setVisible(bool(self._search.text()))
        if self._search.text():
            block, found = self._text.document().begin(), 0
            while block.isValid():
                found += block.isVisible()
                block = block.next()
            self._found.setText(f"{_lines(found)} found" if found else "Nothing found")

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
            left_out = memory_size(max(1, round(self._skipped_bytes / _BYTES_PER_MIB)))
            name = f"{name}, {left_out} left out"
            tip = f"Only the end of a long log is shown. The whole log is\n{tip}"
        self._where.setText(name)
        self._where.setToolTip(wrapped(tip))


def _warnings(count: int) -> str:
    if not count:
        return ""
    return "1 warning" if count == 1 else f"{formatting.count(count)} warnings"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{formatting.count(count)} lines"
