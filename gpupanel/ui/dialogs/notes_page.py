"""What a person is told while they are elsewhere, and by which ways."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.notes import NoteKind, NoteSettings, setting_problems
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.setting import setting_of
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.text_input import TextInput
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel, Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    from gpupanel.runs.notes.trial import TriedWay

_ABOUT = (
    "You are told what becomes of your runs, also while no window is open: once, by every way that "
    "is set below. What does not arrive is tried again for a week."
)
_KINDS = tuple(kind.value for kind in NoteKind)
_LINES = ("command", "webhook", "mail")


class NotesPage(QWidget):
    """A form of :class:`NoteSettings`, with a button that tries them."""

    valueChanged = Signal(object)
    """A person changed a setting: the new :class:`NoteSettings`."""
    testRequested = Signal(object)
    """A person wants a test by the ways of these :class:`NoteSettings`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notes_page")
        about = ProseLabel(tone="muted")
        about.setProse(_ABOUT)
        ways = set(NoteSettings.model_fields).difference(_KINDS)
        self._kinds = ValueForm(NoteSettings(), elsewhere=ways)
        self._ways = ValueForm(
            NoteSettings(),
            inputs={name: _line(name) for name in _LINES},
            elsewhere=_KINDS,
            wide=_LINES,
        )
        self._test = QPushButton("Send a &test")
        self._test.setObjectName("notes_test")
        self._said = ProseLabel()
        self._said.setObjectName("notes_said")
        for form in (self._kinds, self._ways):
            form.valueChanged.connect(self._take)
        self._test.clicked.connect(self._ask)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self._test)
        row.addWidget(self._said, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(about)
        layout.addSpacing(GRID)
        layout.addWidget(_caption("Tell me when"))
        layout.addWidget(self._kinds)
        layout.addSpacing(GRID)
        layout.addWidget(_caption("By"))
        layout.addWidget(self._ways)
        layout.addLayout(row)
        layout.addStretch(1)
        self.setValue(NoteSettings())

    def value(self) -> NoteSettings:
        """As they are shown."""
        kinds = {kind: getattr(self._kinds.value(), kind) for kind in _KINDS}
        value: NoteSettings = self._ways.value().model_copy(update=kinds)
        return value

    def setValue(self, value: NoteSettings) -> None:
        """Shows other settings silently."""
        self._kinds.setValue(value)
        self._ways.setValue(value)
        self._show_problems()

    def setUnusable(self, problems: Sequence[Problem]) -> None:
        """Shows why the settings could not be read or kept; none: they were."""
        self._say("\n".join(map(problem_sentences, problems)), Tone.ERROR)

    def setTried(self, tried: "Sequence[TriedWay]") -> None:
        """Shows what came of a test."""
        self._test.setEnabled(bool(self.value().ways))
        failed = any(each.failure for each in tried)
        self._say("\n".join(each.words for each in tried), Tone.ERROR if failed else Tone.GOOD)

    @Slot()
    def _take(self) -> None:
        self._say("", Tone.PLAIN)
        self._show_problems()
        self.valueChanged.emit(self.value())

    @Slot()
    def _ask(self) -> None:
        self._test.setEnabled(False)
        self._say("Sending…", Tone.MUTED)
        self.testRequested.emit(self.value())

    def _show_problems(self) -> None:
        value = self.value()
        self._ways.setProblems({each.field: each for each in setting_problems(value)})
        self._test.setEnabled(bool(value.ways))
        tip = "Sends one note by each way, now" if value.ways else "Set a way first"
        self._test.setToolTip(wrapped(tip))

    def _say(self, words: str, tone: Tone) -> None:
        self._said.setProse(words)
        set_tone(self._said, tone)


def _line(name: str) -> TextInput:
    line = TextInput()
    line.setPlaceholderText(str(setting_of(NoteSettings, name).examples[0]))
    return line


def _caption(words: str) -> QLabel:
    caption = QLabel(words)
    caption.setProperty("role", "section")
    return caption
