"""Follows the directory of one run, so that the window sees what happens in it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.run_reader import RunFacts, RunReader, RunUpdate

if TYPE_CHECKING:
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures


class RunWatch(WorkerFacade):
    """Follows one run.

    The same for a run that goes on and for one that ended long ago: what is in the directory
    comes first, in portions, then what is new.
    """

    opened = Signal(object)
    """Comes first, and again when the run goes on with something changed: :class:`RunFacts`."""
    followed = Signal(object)
    """What is new: a :class:`FollowedRun`."""
    statusChanged = Signal(object)
    """The status of the run with that: a :class:`RunStatus`."""
    caughtUp = Signal()
    """All that was in the directory has been reported, and the run goes on."""
    unreadable = Signal(object)
    """The directory cannot be read: the :class:`Problem`; nothing more follows."""

    def __init__(self, layout: RunLayout, parent: QObject | None = None) -> None:
        self._reader = RunReader(layout)
        super().__init__(f"run {layout.name}", parent, self._reader)
        self._layout = layout
        self._facts: RunFacts | None = None
        self._status = RunStatus()
        self._figures: EvaluationFigures | None = None
        self._is_stopped = self._is_unreadable = self._has_caught_up = False
        self._reader.opened.connect(self._on_opened)
        self._reader.updated.connect(self._on_updated)
        self._reader.caughtUp.connect(self._on_caught_up)

    @property
    def layout(self) -> RunLayout:
        """The run's directory."""
        return self._layout

    @property
    def facts(self) -> RunFacts | None:
        """What was fixed when the run was launched; ``None``: it was not read yet."""
        return self._facts

    @property
    def status(self) -> RunStatus:
        """The status of the run, as reported last."""
        return self._status

    @property
    def figures(self) -> "EvaluationFigures | None":
        """Of an evaluation that is done."""
        return self._figures

    @property
    def goes_on(self) -> bool:
        """Whether all of the directory has been reported, and the run was not over then."""
        return self._has_caught_up and not self._status.has_ended

    @property
    def is_unreadable(self) -> bool:
        """Whether it could not be followed any more; nothing follows."""
        return self._is_unreadable

    def start(self) -> None:
        """Follow the run, from its beginning."""
        self.submit(self._reader.begin)

    def retire(self) -> None:
        """Follow it no longer, and go when the thread has ended; does not wait."""
        self._is_stopped = True
        self._thread.when_ended(self.deleteLater)

    @override
    def stop(self) -> None:
        """Follow it no longer; waits at most for the portion that is being read."""
        self._is_stopped = True
        super().stop()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        self._facts = facts
        self.opened.emit(facts)

    @Slot(object)
    def _on_updated(self, update: RunUpdate) -> None:
        if self._is_stopped:
            return  # it was on its way when the watch was stopped
        self._status, self._figures = update.status, update.figures
        self.followed.emit(update.followed)
        if not update.is_passing:
            self.statusChanged.emit(update.status)
        self.submit(self._reader.go_on)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        if not self._is_stopped:
            self._is_unreadable = True
            self.unreadable.emit(problems[0])

    @Slot()
    def _on_caught_up(self) -> None:
        if not self._is_stopped:
            self._has_caught_up = True
            self.caughtUp.emit()
