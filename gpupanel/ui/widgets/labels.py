"""Labels: quiet notes, sentences that fill their place, words that are shortened or stand still."""

import re
from enum import StrEnum

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line, visible_lines
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import show_whole, wrapped


class Tone(StrEnum):
    """How a text is meant; its words say the same."""

    PLAIN = ""
    MUTED = "muted"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"


def set_tone(widget: QWidget, tone: Tone) -> None:
    """Colour a label, also when it is on the screen already."""
    if widget.property("tone") == tone.value:
        return
    widget.setProperty("tone", tone.value)
    # A style sheet reads properties only when it is applied.
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def set_role(widget: QWidget, role: str) -> None:
    """Give a button or a label another role in the style sheet, also when it is on the screen."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class ElidedLabel(QLabel):
    """One line of text, with an ellipsis where there is no room for all of it.

    Then its tooltip begins with all of it.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._elide_mode = Qt.TextElideMode.ElideRight
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def setElideMode(self, mode: Qt.TextElideMode) -> None:
        """Shorten it there instead of at its end, where the end distinguishes things."""
        self._elide_mode = mode
        self.update()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def wordsFor(self, width: int) -> str:
        """What stands on so many pixels, before it is shortened by an ellipsis."""
        del width
        return self.text()

    def shownText(self) -> str:
        """What is seen of it now."""
        width = self.contentsRect().width()
        words = visible_line(self.wordsFor(width))
        return self.fontMetrics().elidedText(words, self._elide_mode, width)

    @override
    def event(self, e: QEvent) -> bool:
        if isinstance(e, QHelpEvent) and e.type() is QEvent.Type.ToolTip:
            return show_whole(self, e, self.text(), self.shownText())
        return super().event(e)

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        painter = QPainter(self)
        rect, text = self.contentsRect(), self.shownText()
        self.style().drawItemText(
            painter,
            rect,
            (self.alignment() | Qt.AlignmentFlag.AlignVCenter).value,
            self.palette(),
            self.isEnabled(),
            text,
            self.foregroundRole(),
        )


class NameLabel(ElidedLabel):
    """A name whose end distinguishes it from its like: it is shortened in its middle."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)


class ShorterLabel(ElidedLabel):
    """Says the same in fewer words where there is no room for all of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._forms: tuple[str, ...] = ()

    def setForms(self, forms: tuple[str, ...]) -> None:
        """Say this.

        Args:
            forms: In the most words first; the last is said even where it has to be cut.
        """
        self._forms = forms
        self.setText(forms[0] if forms else "")
        self.updateGeometry()
        self.update()

    @override
    def wordsFor(self, width: int) -> str:
        advance = self.fontMetrics().horizontalAdvance
        # An advance is rounded: what is as wide as its place may have to be cut.
        fitting = (form for form in self._forms if advance(visible_line(form)) < width)
        return next(fitting, self._forms[-1] if self._forms else "")

    @override
    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        if len(self._forms) < 2:
            return least
        shortest = self.fontMetrics().horizontalAdvance(visible_line(self._forms[-1]))
        return QSize(max(least.width(), shortest + 1), least.height())


_LONGEST_WORD = 24


def breakable(prose: str) -> str:
    """The text as it is shown, with places in long words, such as paths, where lines may break."""
    shown = visible_lines(prose)
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", "\\1\N{ZERO WIDTH SPACE}", shown)


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
        self.setText(breakable(prose))


class FigureLabel(QLabel):
    """A figure that changes often: it keeps its place, and asks for another only to grow.

    A label whose size is not fixed has the whole window laid out and painted at each new text.

    Args:
        widest: What it has room for from the beginning.
        parent: The owner in Qt's sense.
    """

    def __init__(self, widest: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widest = widest
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._keep_place()

    def setFigure(self, text: str) -> None:
        """Show that; empty: none is known, and it takes the place that it had at first."""
        if text == self.text():
            return
        if not text or self._needed(text) > self.width():
            self._keep_place(text)
        self.setText(text)

    @override
    def changeEvent(self, arg__1: QEvent) -> None:
        super().changeEvent(arg__1)
        if arg__1.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._keep_place(self.text())

    def _keep_place(self, text: str = "") -> None:
        width = max(self._needed(self._widest), self._needed(text))
        self.setFixedSize(width, self.fontMetrics().height() + 2)

    def _needed(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text)


SETTLE_MS = 400


class SettledLabel(QLabel):
    """Shows passing words only once they have stood for a moment."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._passing = ""
        self._timer = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._timer.timeout.connect(self._settle)

    def setWords(self, words: str, *, is_passing: bool) -> None:
        """Show these words: at once, or when nothing else came for a moment."""
        if not is_passing:
            self._timer.stop()
            self.setText(words)
        elif words != self.text() and not (self._timer.isActive() and words == self._passing):
            self._passing = words
            self._timer.start()

    @Slot()
    def _settle(self) -> None:
        self.setText(self._passing)


class Caption(QLabel):
    """The title of a part inside a card."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("role", "title")


class Note(QLabel):
    """A quiet sentence below or beside a setting: wrapped, and copyable with the mouse."""

    def __init__(
        self, text: str = "", *, tone: str = "muted", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setProperty("tone", tone)
        self.setProperty("textSize", "small")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A wrapped label asks for as much width as its text; this one takes the width that is free.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)


class EmptyState(QWidget):
    """A title and a sentence in the middle of an empty place, and what can be done there."""

    def __init__(self, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(title)
        self._title.setProperty("role", "title")
        self._sentence = QLabel(sentence)
        self._sentence.setProperty("tone", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        layout.setSpacing(GRID)
        layout.addStretch(1)
        for label in (self._title, self._sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextFormat(Qt.TextFormat.PlainText)  # it may have a name in it
            label.setWordWrap(True)
            layout.addWidget(label)
        self._actions = QWidget()
        self._row = QHBoxLayout(self._actions)
        self._row.setContentsMargins(0, GRID, 0, 0)
        self._row.setSpacing(GRID)
        layout.addWidget(self._actions, 0, Qt.AlignmentFlag.AlignHCenter)
        self._actions.hide()
        layout.addStretch(1)

    def add_button(self, text: str, name: str, tip: str) -> QPushButton:
        """A further button below the sentence, seen while the texts are such as need it.

        Args:
            text: What stands on it.
            name: Its object name.
            tip: What it does.
        """
        button = QPushButton(text)
        button.setObjectName(name)
        button.setToolTip(wrapped(tip))
        self._row.addWidget(button)
        return button

    def setTexts(self, title: str, sentence: str, *, with_buttons: bool = False) -> None:
        """Say something else, and offer the buttons or do not."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._actions.setVisible(with_buttons)

    def text(self) -> str:
        """All that it says."""
        return f"{self._title.text()}\n{self._sentence.text()}"
