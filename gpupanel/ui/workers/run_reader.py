"""Reads what is new in the directory of one run, in a thread of its own."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QFileSystemWatcher, QTimer, Signal
from typing_extensions import override

from gpupanel.domain.events import EvaluationDone, RunEnded, RunRestarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.directory.tails import last_lines
from gpupanel.runs.following.follower import FollowedRun, RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

POLL_MS = 1_000
"""For file systems that notify of nothing, and for the log and the lock, which are not watched."""
COALESCE_MS = 250
"""Lines that are written together are read together."""
STEADY_MS = 900
"""Between two readings of a run that writes all the time: showing them takes the window's time."""
STATUS_INTERVAL_S = 0.1
"""Between two of a status that is about to be another, while a long history is read."""
LOCK_INTERVAL_S = 1.0
"""How often to check whether a silent run still has its supervisor."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was fixed when the run was launched; ``None``: it cannot be read any more."""

    layout: RunLayout
    profile: Profile | None
    plan: LaunchPlan | None


@dataclass(frozen=True, slots=True)
class RunUpdate:
    """What is new, and where the run stands with it.

    Attributes:
        figures: Of an evaluation that is done.
        is_passing: Another status follows at once: this one need not be shown.
    """

    followed: FollowedRun
    status: RunStatus
    figures: "EvaluationFigures | None" = None
    is_passing: bool = False


class RunReader(Worker):
    """Reads what is new, in its own thread, and waits for the window before it reads on."""

    opened = Signal(object)
    """:class:`RunFacts`: first of all, and again when the run goes on with something changed."""
    updated = Signal(object)
    """A :class:`RunUpdate`; nothing more is read until :meth:`go_on`."""
    caughtUp = Signal()
    """All that was in the directory has been reported, and the run goes on."""

    def __init__(self, layout: RunLayout) -> None:
        super().__init__()
        self._layout = layout
        self._follower = RunFollower(layout, reads_aside=True)
        self._status = RunStatus()
        self._figures: EvaluationFigures | None = None
        self._is_unread = False
        self._read_at = QElapsedTimer()
        self._has_more = False
        self._is_passing = False
        self._told_s = 0.0
        self._has_caught_up = False
        self._lock_seen_s = -LOCK_INTERVAL_S
        self._poll_timer: QTimer | None = None
        self._soon_timer: QTimer | None = None
        self._watcher: QFileSystemWatcher | None = None
        self._end_copy: Callable[[], None] | None = None

    def begin(self) -> None:
        """Start to follow; timers and watches belong to the thread that makes them."""
        with self._closed_on_error():
            self._end_copy = workplace().open_copy(self._layout)
            # First: a long history is read by another process, which takes its time to begin.
            self._follower.begin()
            # The window's thread needs it for what is reported, and would stand still meanwhile.
            import numpy  # noqa: F401

            self._begin()
        self.read()

    def _begin(self) -> None:
        facts = _facts(self._layout)
        # Without its profile a run can still be watched; only the progress in percent is missing.
        self._status = RunStatus(epoch_total=facts.profile.epochs_to_train if facts.profile else 0)
        self.opened.emit(facts)
        self._poll_timer = QTimer(self, interval=POLL_MS)
        self._poll_timer.timeout.connect(self.read)
        self._soon_timer = QTimer(self, singleShot=True)
        self._soon_timer.timeout.connect(self.read)
        self._watcher = QFileSystemWatcher([str(self._layout.root)], self)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._watcher.fileChanged.connect(self._on_changed)
        self._poll_timer.start()

    @guarded_slot()
    def read(self) -> None:
        """Read what is new and report it, unless the window still works on the report before."""
        if self._is_unread or self._poll_timer is None:
            return
        with self._closed_on_error():
            self._read(self._poll_timer)

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        """What fails once would fail again and again: nothing is read any more."""
        try:
            yield
        except Exception:
            self.close()
            raise

    def _read(self, poll_timer: QTimer) -> None:
        followed = self._polled()
        if not followed.is_empty or followed.has_more or self._is_passing:
            self._report(followed)
        elif self._status.has_ended:
            poll_timer.stop()
        elif (summary := self._check_lock()) is not None:
            self._take_summary(summary)
        elif not self._has_caught_up:
            self._has_caught_up = True
            self.caughtUp.emit()

    def _polled(self) -> FollowedRun:
        try:
            self._watch_events()
            return self._follower.poll()
        except OSError as error:
            raise ProblemError(disk_problem(error, self._layout.root)) from error

    def _report(self, followed: FollowedRun) -> None:
        had_ended, evaluation = self._status.has_ended, self._status.evaluation
        self._status = self._status.after_all(followed.parts)
        if self._status.evaluation is not None and self._status.evaluation is not evaluation:
            self._figures = _read_figures(self._layout, self._status.evaluation)
        if (had_ended or self._has_caught_up) and _is_changed(followed):
            self.opened.emit(_facts(self._layout))
        if had_ended and not self._status.has_ended and self._poll_timer is not None:
            # It was started again, from here or from elsewhere.
            self._has_caught_up = False
            self._poll_timer.start()
        self._is_unread = True
        self._read_at.start()
        if self._poll_timer is not None and self._poll_timer.isActive():
            self._poll_timer.start()
        self._has_more = followed.has_more or not self._has_caught_up
        now_s = time.monotonic()
        self._is_passing = followed.has_more and now_s - self._told_s < STATUS_INTERVAL_S
        if not self._is_passing:
            self._told_s = now_s
        self.updated.emit(RunUpdate(followed, self._status, self._figures, self._is_passing))

    def _check_lock(self) -> RunSummary | None:
        """What no event reports of the run: its supervisor went, or is frozen."""
        now = time.monotonic()
        if now - self._lock_seen_s < LOCK_INTERVAL_S:
            return None
        self._lock_seen_s = now
        summary = summarize_run(self._layout, with_since=False)
        is_same = summary.is_running and summary.problem == self._status.stuck
        return None if is_same else summary

    def _take_summary(self, summary: RunSummary) -> None:
        if not summary.is_running:
            if summary.outcome is None and summary.problem is None and summary.flaw is not None:
                # That it cannot be read says nothing about its end.
                raise ProblemError(summary.flaw)
            # What it wrote before it ended comes first.
            followed = self._polled()
            self._report(_last_word(summary) if followed.is_empty else followed)
            return
        self._status = self._status.model_copy(update={"stuck": summary.problem})
        self._report(FollowedRun())

    def go_on(self) -> None:
        """The window has dealt with the last update."""
        self._is_unread = False
        if self._has_more:
            self.read()

    @override
    def close(self) -> None:
        for timer in (self._poll_timer, self._soon_timer):
            if timer is not None:
                timer.stop()
                timer.deleteLater()
        if self._watcher is not None:
            self._watcher.deleteLater()
        self._follower.close()
        if self._end_copy is not None:
            self._end_copy()
            self._end_copy = None
        self._poll_timer = self._soon_timer = self._watcher = None

    @guarded_slot(str)
    def _on_changed(self, _path: str) -> None:
        if self._soon_timer is not None and not self._soon_timer.isActive():
            age_ms = self._read_at.elapsed() if self._read_at.isValid() else STEADY_MS
            self._soon_timer.start(max(COALESCE_MS, STEADY_MS - age_ms))

    def _watch_events(self) -> None:
        path = str(self._layout.events)
        if (
            self._watcher is not None
            and path not in self._watcher.files()
            and self._layout.events.exists()
        ):
            self._watcher.addPath(path)


def _facts(layout: RunLayout) -> RunFacts:
    return RunFacts(layout, run_profile_if_readable(layout), plan_if_readable(layout))


def _is_changed(followed: FollowedRun) -> bool:
    return any(isinstance(part, RunRestarted) and part.changes for part in followed.parts)


def _last_word(summary: RunSummary) -> FollowedRun:
    """What a supervisor that vanished could not write any more, so that every reader hears it."""
    ended = RunEnded(
        time_s=summary.ended_s or time.time(),
        outcome=summary.outcome or Outcome.LOST,
        metrics=summary.metrics,
        examples_per_second=summary.examples_per_second,
        problem=summary.problem,
        log_tail=last_lines(RunLayout(summary.path).trainer_log),
    )
    return FollowedRun(parts=(ended,))


def _read_figures(layout: RunLayout, evaluation: EvaluationDone) -> "EvaluationFigures":
    """In this thread, what is derived of them, too: of thousands of classes it takes a moment."""
    # Not at the top: NumPy takes longer to load than a window may not answer.
    from gpupanel.runs.following.evaluation_figures import read_figures

    found = read_figures(layout, evaluation)
    found.prepare()
    return found
