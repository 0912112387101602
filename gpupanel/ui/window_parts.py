"""The parts of a window: what each refuses is shown, and all of them end in one order."""

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar, cast

from PySide6.QtCore import QObject, SignalInstance, Slot

from gpupanel.domain.problem import Problem
from gpupanel.ui.questions import Questions

UNEXPECTED = "Something unexpected happened."
NOT_DONE = "That could not be done."

_PartT = TypeVar("_PartT", bound=QObject)


class StopRank(IntEnum):
    """When a part ends as the window closes; those of one member in the order of the list."""

    MEMORY = 1
    """It remembers the window as it was, or stands beside it."""
    SESSION = 2
    """It hears of devices and changes: what ends later leads to no new preparation."""
    WORK = 3
    """It reads, asks a child process, or writes."""
    RUN = 4
    """It steers the run, which goes on without the window."""


class WindowParts:
    """A list of parts: every ``refused`` is connected, every ``stop`` is called at the end.

    Args:
        questions: Shows what is refused.
        window: Owns what hears of it.
    """

    def __init__(self, questions: Questions, window: QObject) -> None:
        self._questions, self._window = questions, window
        self._by_kind: dict[type[QObject], QObject] = {}
        self._refusals: dict[str, Refusals] = {}
        self._stops: list[tuple[StopRank, Callable[[], None]]] = []

    def add(
        self,
        part: _PartT,
        *,
        refusal: str = UNEXPECTED,
        ending: StopRank = StopRank.WORK,
        stop: Callable[[], None] | None = None,
    ) -> _PartT:
        """Take a part over, and hand it back.

        Args:
            part: Of a kind of which the window has one.
            refusal: The sentence above the problems that its signal ``refused`` reports.
            ending: When it ends.
            stop: How it ends, where it has no method ``stop``.
        """
        self._by_kind[type(part)] = part
        # Not by protocols: to ask for these takes longer than to make many a part.
        refused: SignalInstance | None = getattr(part, "refused", None)
        if refused is not None:
            refused.connect(self.refusals(refusal).show)
        if stop is None:
            stop = getattr(part, "stop", None)
        if stop is not None:
            self._stops.append((ending, stop))
        return part

    def __getitem__(self, kind: type[_PartT]) -> _PartT:
        """The part of that class.

        Raises:
            KeyError: There is none.
        """
        return cast("_PartT", self._by_kind[kind])

    def refusals(self, sentence: str) -> "Refusals":
        """What shows problems below that sentence."""
        if sentence not in self._refusals:
            self._refusals[sentence] = Refusals(self._questions, sentence, self._window)
        return self._refusals[sentence]

    def stops(self) -> tuple[Callable[[], None], ...]:
        """What ends the parts, in the order in which it is to be called."""
        return tuple(stop for _, stop in sorted(self._stops, key=lambda each: each[0]))


class Refusals(QObject):
    """Shows problems below one sentence.

    Args:
        questions: Shows them.
        sentence: Says what did not happen.
        parent: Owns it.
    """

    def __init__(self, questions: Questions, sentence: str, parent: QObject) -> None:
        super().__init__(parent)
        self._questions, self._sentence = questions, sentence

    @Slot(object)
    def show(self, problems: tuple[Problem, ...]) -> None:
        """Show these."""
        self._questions.show_problems(self._sentence, problems)
