"""Has what a tool finds out asked by a process of its own, and reports how far it is."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.runs.questions.question import Question
from gpupanel.ui.workers.single_request import Report, SingleRequestFacade

_RequestT = TypeVar("_RequestT", bound=Value)


class Ask(Protocol):
    """Asks, and waits for the answer, in the worker's thread."""

    def __call__(self, *, cancelled: Event, on_progress: Callable[[Any], object]) -> object:
        """The answer; an empty one, or less than all, of a tool that was cancelled."""
        ...


class ToolWorker(SingleRequestFacade):
    """One request at a time; a new one ends the one before, of which nothing is heard.

    Args:
        name: Of its thread: what the tool does.
        answer: Makes an answer of ``problems``: whatever becomes of the process, what went wrong
            is a problem in it.
    """

    answered = Signal(object)
    """What came of the last request."""
    progressed = Signal(object)
    """How far it is."""

    def __init__(
        self, name: str, answer: Callable[..., object], parent: QObject | None = None
    ) -> None:
        super().__init__(name, parent)
        self._answer = answer

    def begin(self, ask: Ask) -> None:
        """Ask that; ends what goes on."""

        def work(dropped: Event, report: Report) -> object:
            try:
                return ask(cancelled=dropped, on_progress=report)
            except ProblemError as error:
                return self._without(error.problems)

        self.carry_out(work, self.answered.emit, failed=self._without, report=self.progressed.emit)

    def _without(self, problems: tuple[Problem, ...]) -> object:
        """The answer of a tool that found out nothing."""
        return self._answer(problems=problems)


class QuestionWorker(ToolWorker, Generic[_RequestT]):
    """Asks one question, of one request after the other."""

    def __init__(self, question: Question[_RequestT, Any], parent: QObject | None = None) -> None:
        super().__init__(question.work, question.answer, parent)
        self.question = question

    def ask(self, request: _RequestT, device: str = CPU_KEY) -> None:
        """Ask about that; what was asked before is ended, and not answered.

        Args:
            request: What is asked.
            device: The key of the GPU that the process may use; the CPU's: none.
        """
        self.begin(partial(self.question, request, device))
