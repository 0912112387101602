"""The head of a run's page: which one it is, how far, how it ended and why, and its buttons."""

import re

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget
from typing_extensions import override

from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.run_page.banner.problem_card import ProblemCard
from gpupanel.ui.run_page.banner.run_buttons import RunButtons
from gpupanel.ui.run_page.banner.texts import selectable, sentences
from gpupanel.ui.run_page.progress import ProgressRow
from gpupanel.ui.setting_titles import within_words
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_MEMORY_TIP = (
    "TensorFlow frees GPU memory only when its process ends. The run's GPUs were watched until it "
    "was free again."
)

_LONGEST_TITLE = 60
"""Letters; a longer one leaves no room for what the run does."""
_LEAST_TITLE_WIDTH = 160
"""Pixels."""
_LEAST_STATE_WIDTH = 48
"""Pixels."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_LONGEST_FACT = 44
"""Letters of a fact that has room on one line, however small the window is."""
_BETWEEN = re.compile("; | · ")
"""Where the words of an end may go on in the next line."""


class RunBanner(QFrame):
    """One line with the run's name, where it stands, and its buttons; below it what is to be said.

    Args:
        actions: Its buttons follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    def __init__(self, actions: WindowActions | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_banner")
        self._run_name = self._label = self._end = self._facts = self._whole_title = ""
        self._is_beside: bool | None = None
        self._make_words()
        self.progress = ProgressRow(self)
        """How far it is, while it goes on."""
        self.problem = ProblemCard(self)
        """What ended the run, with its fixes."""
        self.buttons = RunButtons(actions or WindowActions(self), self)
        """What can be done with it."""
        self._compose()
        self.setRun("")

    def setRun(self, title: str) -> None:
        """Name the run that is shown; empty: none is."""
        self.setVisible(bool(title))
        if title != self._run_name or not title:
            self._run_name = title
            self._show_title()

    def setEnd(self, words: str) -> None:
        """Say how the run ended, where its progress stood; empty: it goes on.

        Args:
            words: How it ended, and what it reached.
        """
        if words != self._end:
            self._change_end(words)

    def _change_end(self, words: str) -> None:
        self._end = words
        self._state.setToolTip(wrapped(words))
        self._state.setVisible(bool(words))
        self._arrange()
        self.progress.setVisible(not words)
        self.progress.bar.setVisible(not words)
        # What is said stands beside the name: the other column has no room then.
        self._head.setColumnStretch(1, 1 if words else 0)
        self._head.setColumnStretch(2, 0 if words else 1)

    def setLabel(self, label: str) -> None:
        """Call the run as a person does; empty: as its folder is called."""
        self._label = label
        self._show_title()

    def title(self) -> str:
        """How the shown run is called; empty: none is shown."""
        return self._label or self._run_name

    def setCard(self, words: str) -> None:
        """Say what became of a run that ended; empty: it goes on.

        Args:
            words: Its best epoch, how long it took, how large its model is.
        """
        if words != self._facts:
            self._facts = words
            self._arrange()

    def setStory(self, words: str) -> None:
        """Say how the run came to go on after an end; empty: it never had to."""
        self._story.setText(f"↻ {words}" if words else "")
        self._story.setVisible(bool(words))

    def setMemory(self, words: str, *, is_held: bool = False) -> None:
        """Say what became of the GPU memory that the run held.

        Args:
            words: Empty: it held none, or goes on.
            is_held: Some of it did not come back.
        """
        self._memory.setText(f"! {words}" if is_held else words)
        set_tone(self._memory, Tone.WARNING if is_held else Tone.MUTED)
        self._memory.setVisible(bool(words))

    def setNotice(self, words: str) -> None:
        """Say what became of what was asked for; empty: nothing was, or it is seen elsewhere."""
        self._notice.setText(words)
        self._notice.setVisible(bool(words))

    def setGaps(self, words: str, hint: str = "") -> None:
        """Say what of the run cannot be shown; empty: all of it can."""
        self._gaps.setText(words)
        self._gaps.setToolTip(wrapped(hint))
        self._gaps.setVisible(bool(words))

    @override
    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(_LEAST_TITLE_WIDTH + _LEAST_STATE_WIDTH, least.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()  # a button came or went, or the name is another one
        return handled

    def _arrange(self) -> None:
        """Put the buttons beside the words, or below them where there is no room beside them."""
        middle = self._state if self.progress.isHidden() else self.progress
        gaps = 3 * self._head.horizontalSpacing()
        self._cut_title(self.width() - gaps - middle.minimumSizeHint().width())
        left = self.width() - self._title.sizeHint().width() - gaps
        beside = left - self.buttons.sizeHint().width()
        is_beside = beside >= middle.minimumSizeHint().width() + _LEAST_STATE_WIDTH
        self._place_buttons(is_beside=is_beside)
        self._show_end(beside if is_beside else left)

    def _show_end(self, room: int) -> None:
        """What does not fit beside the name begins the line below: nothing of it is cut."""
        advance = self._state.fontMetrics().horizontalAdvance
        ends = [*(found.start() for found in _BETWEEN.finditer(self._end)), len(self._end)]
        fitting = [end for end in ends if advance(self._end[:end]) < room] or ends[:1]
        shown, rest = self._end[: fitting[-1]], _BETWEEN.sub("", self._end[fitting[-1] :], 1)
        facts = f"{rest} · {within_words(self._facts)}" if rest and self._facts else rest
        card = _capitalised(facts) if rest else self._facts
        if (shown, _unbroken(card)) != (self._state.text(), self._card.text()):
            self._state.setText(shown)
            self._card.setText(_unbroken(card))
        self._card.setVisible(bool(card))

    def _place_buttons(self, *, is_beside: bool) -> None:
        if is_beside is self._is_beside:
            return
        self._is_beside = is_beside
        self._head.removeWidget(self.buttons)
        if is_beside:
            self._head.addWidget(self.buttons, 0, 3)
        else:
            self._head.addWidget(self.buttons, 2, 0, 1, 4)

    def _make_words(self) -> None:
        self._title = selectable(self, "shown_run", "title")
        # A run's name and what it reached may be longer than a small window is wide.
        self._state = ElidedLabel(parent=self)
        self._state.setObjectName("shown_state")
        self._state.setProperty("tone", "muted")
        self._card = sentences(self, "run_card", "muted")
        self._story = sentences(self, "run_story")
        self._memory = sentences(self, "run_memory", "muted")
        self._memory.setToolTip(wrapped(_MEMORY_TIP))
        self._gaps = sentences(self, "run_gaps", "muted")
        self._notice = sentences(self, "run_notice", "muted")

    def _show_title(self) -> None:
        title = self.title()
        self._whole_title = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
        self._title.setText(self._whole_title)
        names = [self._label, self._run_name] if self._label else [title]
        self._title.setToolTip(wrapped("\n".join(names)))
        self._arrange()

    def _cut_title(self, room: int) -> None:
        """Shorten the name where all of it would push what the run does out of the window."""
        metrics = self._title.fontMetrics()
        most = max(_LEAST_TITLE_WIDTH, room)
        shown = metrics.elidedText(self._whole_title, Qt.TextElideMode.ElideMiddle, most)
        if shown != self._title.text():
            self._title.setText(shown)

    def _compose(self) -> None:
        head = self._head = QGridLayout()
        head.setHorizontalSpacing(16)
        head.setVerticalSpacing(4)
        head.addWidget(self._title, 0, 0)
        head.addWidget(self._state, 0, 1)
        head.addWidget(self.progress, 0, 2)
        head.addWidget(self.progress.bar, 1, 0, 1, 4)
        self._place_buttons(is_beside=True)
        layout = column_in(self, spacing=4)
        layout.addLayout(head)
        for words in (self._card, self._story, self.problem, self._memory, self._gaps):
            layout.addWidget(words)
        layout.addWidget(self._notice)
        self._change_end("")
        self.setCard("")
        self.setStory("")
        self.setMemory("")
        self.setGaps("")
        self.setNotice("")


def _unbroken(facts: str) -> str:
    """The same with lines that end behind a fact: none begins with a dot, or within a figure."""
    whole = [
        fact.replace(" ", _NO_BREAK) if len(fact) <= _LONGEST_FACT else fact
        for fact in facts.split(" · ")
    ]
    return f"{_NO_BREAK}· ".join(whole)


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]
