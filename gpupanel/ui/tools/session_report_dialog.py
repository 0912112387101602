"""A report about what the session would train: it can be fixed, and goes out of date."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem, Severity
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.tool_dialog import ToolDialog
from gpupanel.ui.widgets.problem_row import ProblemRow


class _Answer(Protocol):
    @property
    def problems(self) -> tuple[Problem, ...]: ...


_AnswerT = TypeVar("_AnswerT", bound=_Answer)
_ProgressT = TypeVar("_ProgressT")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportWords:
    """What is said whatever the answer is; pairs are a title and a sentence, or a button's tip.

    Attributes:
        name: As of :class:`ReportDialog`.
        title: Of the window, and of an answer that needs no other.
        again: The button that asks again.
        cancel: The button that ends what is being made; ``None``: that is over soon.
        empty: What a report will hold.
        unknown: Before anything is known.
        busy: While it is being made; the sentence, until it is known how far that is.
        outdated: The sentence of an answer to other settings than those of now.
    """

    name: str
    title: str
    again: tuple[str, str]
    cancel: tuple[str, str] | None = None
    empty: str
    unknown: tuple[str, str]
    busy: tuple[str, str]
    outdated: str


class SessionReportDialog(ToolDialog[_AnswerT, _ProgressT], Generic[_AnswerT, _ProgressT]):
    """Shows an answer, its problems with their fixes, and whether it is outdated.

    Args:
        words: Of the tool.
        parent: Owns it.
    """

    requested = Signal()
    """A person wants it to be made again."""
    fixRequested = Signal(object)
    """The button of a fix was pressed: the :class:`Fix`."""
    fieldActivated = Signal(str)
    """A problem was clicked: the profile key that it is about."""

    def __init__(self, words: ReportWords, parent: QWidget | None) -> None:
        super().__init__(words.name, words.title, parent)
        self._said = words
        self._found: _AnswerT | None = None
        self._is_outdated = False
        text, tip = words.again
        self._again = self._add_button(text, "again", tip)
        self._again.clicked.connect(self.requested)
        if words.cancel is not None:
            self._add_cancel(*words.cancel)
        self._show_empty(words.empty)
        SessionReportDialog._show_state(self)  # other buttons come later

    def answer(self) -> _AnswerT | None:
        """What is shown; ``None`` before anything is known."""
        return self._found

    @Slot(object)
    @override
    def setAnswer(self, answer: _AnswerT) -> None:
        self._found, self._is_outdated = answer, False
        self._show_found()
        self._show_state()

    def forget(self) -> None:
        """What is shown is of other settings: show nothing."""
        self._found, self._is_outdated = None, False
        self._show_found()
        self._show_state()

    def setLabels(self, labels: DeviceLabels) -> None:
        """How devices are called and which colours they have, where it names any."""

    def setOutdated(self, outdated: bool) -> None:
        """Show that the settings are other ones than those that it was made of."""
        if outdated != self._is_outdated:
            self._is_outdated = outdated
            self._show_state()

    @override
    def text(self) -> str:
        return "" if self._found is None else self._text_of(self._found)

    @abstractmethod
    def _text_of(self, found: _AnswerT) -> str:
        """All of an answer as text; empty where there is nothing worth copying."""
        ...

    @abstractmethod
    def _sentence_of(self, found: _AnswerT) -> str:
        """An answer in a sentence or two."""
        ...

    def _title_of(self, found: _AnswerT) -> str:
        """An answer in some words."""
        del found
        return self._said.title

    def _severity_of(self, found: _AnswerT) -> Severity | None:
        return Severity.ERROR if found.problems else None

    def _parts_of(self, found: _AnswerT) -> list[QWidget]:
        """What stands below the sentence."""
        return [self._row(each) for each in found.problems]

    def _show_found(self) -> None:
        parts = [] if self._found is None else self._parts_of(self._found)
        if parts:
            self._show_page(*parts)
        else:
            self._show_empty(self._said.empty)

    @override
    @Slot()
    def _show_state(self) -> None:
        found, is_busy, said = self._found, self._is_busy, self._said
        self._progress.setVisible(is_busy)
        self._again.setEnabled(not is_busy)
        if said.cancel is not None:
            self._cancel.setEnabled(is_busy)
        self._copy.setEnabled(not is_busy and bool(self.text()))
        self._icon.setVisible(found is not None and not is_busy)
        self._icon.setSeverity(None if found is None else self._severity_of(found))
        if is_busy:
            title, sentence = said.busy
            sentence = self._doing or sentence
        elif found is None:
            title, sentence = said.unknown
        elif self._is_outdated:
            title, sentence = "Outdated", said.outdated
        else:
            title, sentence = self._title_of(found), self._sentence_of(found)
        self._title.setText(title)
        self._sentence.setProse(sentence)

    def _row(self, problem: Problem) -> ProblemRow:
        row = ProblemRow(problem)
        row.fixes.fixRequested.connect(self.fixRequested)
        row.fieldActivated.connect(self.fieldActivated)
        return row
