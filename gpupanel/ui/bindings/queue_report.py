"""Says what became of what was queued: its place, how many wait, and what failed."""

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.workers.queue_worker import QueueWatch

_LONGEST_NAME = 40


class QueueReport(QObject):
    """Answers in the bar, and counts for the Runs tab.

    Args:
        watch: Knows the queue.
        bar: Shows what became of a click on Queue, and what fails.
        parent: The window.
    """

    countsChanged = Signal(int, int)
    """How many entries wait, and how many failed since :meth:`mark_seen`."""

    def __init__(self, watch: QueueWatch, bar: RunBar, parent: QObject) -> None:
        super().__init__(parent)
        self._bar = bar
        self._line: WaitingLine | None = None
        self._added = ""
        self._failed: set[str] = set()
        self._unseen: set[str] = set()
        watch.added.connect(self._on_added)
        watch.changed.connect(self._on_changed)
        watch.problemsChanged.connect(self._on_problems)

    @Slot()
    def mark_seen(self) -> None:
        """The person sees the queue, and what failed in it."""
        self._unseen.clear()
        self._count()

    @Slot(str)
    def _on_added(self, entry_id: str) -> None:
        self._added = entry_id
        self._answer()

    @Slot(object)
    def _on_changed(self, line: WaitingLine) -> None:
        is_first, self._line = self._line is None, line
        failed = {entry.id: entry for entry in line.entries if _has_failed(entry)}
        new = [] if is_first else [failed[each] for each in failed if each not in self._failed]
        self._failed = set(failed)
        self._unseen = (self._unseen | {entry.id for entry in new}) & self._failed
        self._answer()
        for entry in new:
            self._bar.setNotice(_failure_words(entry))
        self._count()

    @Slot(object)
    def _on_problems(self, problems: tuple[Problem, ...]) -> None:
        error = next((each for each in problems if each.is_error), None)
        if error is not None:
            self._bar.setNotice(f"The queue does not work: {error.message}")

    def _answer(self) -> None:
        """Say which place the new entry has, once it is known."""
        found = () if self._line is None else self._line.entries
        entry = next((each for each in found if each.id == self._added), None)
        if self._line is None or entry is None:
            return
        self._added = ""
        place = self._line.place(entry.id)
        words = "Queued: it starts now" if place is None else f"Queued, place {place}"
        is_held = place is not None and self._line.paused
        self._bar.setNotice(f"{words}; the queue is paused" if is_held else words, "Queued")

    def _count(self) -> None:
        waiting = 0 if self._line is None else len(self._line.waiting)
        self.countsChanged.emit(waiting, len(self._unseen))


def _has_failed(entry: QueueEntry) -> bool:
    if entry.state is EntryState.REFUSED:
        return True
    ended_badly = entry.outcome is not None and not entry.outcome.was_successful
    return entry.state is EntryState.ENDED and ended_badly


def _failure_words(entry: QueueEntry) -> str:
    name = visible_line(entry.name)
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    what = "cannot start" if entry.state is EntryState.REFUSED else "failed"
    why = f": {entry.problems[0].message}" if entry.problems else ""
    return f"Queued run “{name}” {what}{why}"
