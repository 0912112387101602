"""Reads the curves of several runs, off the GUI thread, and follows those that go on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.differences import Difference, differences, taken
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.runs.history.curves import MetricPoints

MOST_POINTS = 65_536
"""Of one curve: far more than a screen has pixels, and eight runs are smoothed within a blink."""
FOLLOW_MS = 2_000
"""Nobody compares runs by the second; the one that is watched is in Live."""
_REPORT_S = 0.3
"""How often a long history is shown while it is read."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """One run of a comparison, as far as it was read.

    Attributes:
        summary: As a list of runs shows it.
        points: What was measured at all.
        step: Updates done.
        is_read: All that was there when it was last checked has been read.
        problem: Why no more can be read of it: it was deleted, or its disk is gone.
        steps_per_epoch: How long an epoch is; ``None``: not known.
        style: Number of its colour and kind of line; whoever reads the run does not know it.
    """

    summary: RunSummary
    points: Mapping[str, "MetricPoints"] = field(default_factory=dict)
    step: int = 0
    is_read: bool = False
    problem: Problem | None = None
    steps_per_epoch: int | None = None
    style: int = 0


class _Reading:
    """One run in the worker's hands."""

    def __init__(self, summary: RunSummary) -> None:
        self.layout = RunLayout(summary.path)
        self.end_copy = workplace().open_copy(self.layout)
        self.reader = CurveReader(self.layout, MOST_POINTS)
        self.run = ComparedRun(summary)
        self.reported_s = 0.0

    def read(self) -> bool:
        """Read a portion; whether there is something to report."""
        try:
            if not self.layout.root.is_dir():
                return self._end(_deleted(self.run.summary))
            has_changes = self.reader.read()
            if not has_changes and self.run.is_read and not self.run.summary.is_running:
                return self._go_on()
            is_read = not self.reader.has_more
            summary = summarize_run(self.layout) if is_read else self.run.summary
        except Exception as error:  # noqa: BLE001 - the other runs are to be read all the same
            return self._end(problems_of(error)[0])
        reader = self.reader
        changed = ComparedRun(
            summary, reader.points(), reader.step, is_read, steps_per_epoch=reader.steps_per_epoch
        )
        is_new = has_changes or summary != self.run.summary or not self.run.is_read
        self.run = changed
        return is_new

    def _go_on(self) -> bool:
        """Nothing is new but, perhaps, that it can be read again."""
        had_problem = self.run.problem is not None
        self.run = replace(self.run, problem=None)
        return had_problem

    def _end(self, problem: Problem) -> bool:
        is_new = self.run.problem is None or self.run.problem.code != problem.code
        self.run = replace(self.run, problem=problem, is_read=True)
        return is_new


class _ComparisonReader(Worker):
    """Reads run by run, a portion at a time, so that it can be given others in between."""

    runRead = Signal(int, int, object)

    def __init__(self) -> None:
        super().__init__()
        self._generation = 0
        self._readings: list[_Reading] = []
        self._next: QTimer | None = None

    def begin(self, generation: int, runs: tuple[RunSummary, ...]) -> tuple[Difference, ...]:
        """Start to read these runs; returns in what they differ."""
        self._generation = generation
        self._let_go()
        self._readings = [_Reading(run) for run in runs]
        if self._next is None:
            # Timers belong to the thread that makes them.
            self._next = QTimer(self, singleShot=True)
            self._next.timeout.connect(self.read)
        profiles = [run_profile_if_readable(reading.layout) for reading in self._readings]
        plans = [plan_if_readable(reading.layout) for reading in self._readings]
        found = (*differences(profiles, plans), *taken(runs))
        self._next.start(0)
        return found

    @guarded_slot(polled=True)
    def read(self) -> None:
        """A portion of the first run that has more; a check of each of them when none has."""
        unread = [each for each in self._readings if not each.run.is_read]
        for reading in unread[:1] or self._readings:
            if reading.read():
                self._report(reading)
        if self._next is not None:
            has_more = any(not each.run.is_read for each in self._readings)
            self._next.start(0 if has_more else FOLLOW_MS)

    def rest(self) -> None:
        """Follow the runs no longer, until they are begun again."""
        self._let_go()
        if self._next is not None:
            self._next.stop()

    @override
    def close(self) -> None:
        self._let_go()
        if self._next is not None:
            self._next.stop()
            self._next.deleteLater()
        self._next = None

    def _let_go(self) -> None:
        before, self._readings = self._readings, []
        for each in before:
            each.end_copy()

    def _report(self, reading: _Reading) -> None:
        now = time.monotonic()
        if reading.run.is_read or now - reading.reported_s >= _REPORT_S:
            reading.reported_s = now
            self.runRead.emit(self._generation, self._readings.index(reading), reading.run)


class RunComparison(WorkerFacade):
    """Knows the curves of some runs; why one cannot be read is reported with it."""

    runRead = Signal(int, object)
    """A run has changed: its place among the compared ones, and the :class:`ComparedRun`."""
    differencesFound = Signal(object)
    """In what the runs' profiles and plans differ: a tuple of :class:`Difference`."""

    def __init__(self, parent: QObject | None = None) -> None:
        self._reader = _ComparisonReader()
        super().__init__("comparison", parent, self._reader)
        self._generation = 0
        self._reader.runRead.connect(self._on_run_read)

    def begin(self, runs: tuple[RunSummary, ...]) -> None:
        """Read these runs, from their beginnings, instead of those before."""
        self._forget()
        begin = partial(self._reader.begin, self._generation, runs)
        self.submit(begin, self.differencesFound.emit)

    @Slot()
    def rest(self) -> None:
        """Forget the runs; nothing follows any more."""
        self._forget()
        self.submit(self._reader.rest)

    @override
    def stop(self) -> None:
        """Let the thread end after the portion in hand."""
        self._forget()
        super().stop()

    def _forget(self) -> None:
        self._generation += 1
        self.drop()

    @Slot(int, int, object)
    def _on_run_read(self, generation: int, place: int, run: ComparedRun) -> None:
        if generation == self._generation:
            self.runRead.emit(place, run)


def _deleted(run: RunSummary) -> Problem:
    return Problem(
        code="run_deleted",
        message=f"The run {run.name} was deleted or moved while it was compared.",
        hint="What had been read of it is still shown.",
    )
