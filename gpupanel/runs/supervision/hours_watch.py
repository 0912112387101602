"""Asks a run to suspend when its hours end, and puts it into the queue for when they begin."""

import time
from collections.abc import Callable
from typing import Final

from gpupanel.domain.events import Event, HoursEnded, ProblemReported
from gpupanel.domain.hours import moment_text
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.requests import ask, is_asked
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.machine_settings import MACHINE_FILE, SUSPENDED_TASKS, work_hours
from gpupanel.runs.queue.ended_hours import await_hours
from gpupanel.runs.queue.queue_files import QueueFiles

_LOOK_S: Final = 1.0


class HoursWatch:
    """Looks whether a run may still work: as its profile says, and this machine's settings.

    A run that a person let begin outside of its hours works until they have been, and end.

    Args:
        layout: The run.
        profile: Its profile; ``None``: it cannot be read, or the run heeds no hours.
        report: Writes an event of the supervisor's.
        clock: The time of day, seconds since the epoch (UTC).
    """

    def __init__(
        self,
        layout: RunLayout,
        profile: Profile | None,
        report: Callable[[Event], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._layout, self._profile = layout, profile
        self._report, self._clock = report, clock
        self._machine = MachineSettings()
        self._waits_for_begin = _is_let(layout)
        self._looked_s = float("-inf")
        self._is_noted = self._has_ended = False

    def look(self) -> bool:
        """Whether the hours have ended; the first time the run is asked to suspend.

        May be called often: it looks once a second. A saved model that is evaluated or predicts
        has nothing to continue from, and works to its end.
        """
        profile = self._profile
        if self._has_ended or profile is None or profile.task not in SUSPENDED_TASKS:
            return self._has_ended
        if time.monotonic() - self._looked_s < _LOOK_S:
            return False
        self._looked_s = time.monotonic()
        self._read_settings()
        work, now_s = work_hours(profile, self._machine), self._clock()
        if work.hours is None:
            return False
        if work.hours.are_open(now_s):
            self._waits_for_begin = False
            return False
        if not self._waits_for_begin and (self._is_noted or not self._is_ending()):
            begin_s = work.hours.open_s(now_s)
            self._end(profile, HoursEnded(time_s=now_s, hours=work.words, begin_s=begin_s))
        return self._has_ended

    def _is_ending(self) -> bool:
        """Whether a person has asked it to end: then it does, and nothing continues it."""
        ending = (Request.END, Request.STOP, Request.SUSPEND)
        return any(is_asked(self._layout, each) for each in ending)

    def _read_settings(self) -> None:
        try:
            self._machine = MACHINE_FILE.read()
        except ProblemError:
            return  # those of before hold until somebody has mended the file

    def _end(self, profile: Profile, event: HoursEnded) -> None:
        if not self._is_noted:
            self._is_noted = True
            # First: whoever is killed after that, the run stands in the queue.
            try:
                await_hours(QueueFiles(queue_dir()), self._layout, profile)
            except ProblemError as error:
                self._report(ProblemReported(time_s=event.time_s, problem=_not_queued(error)))
            self._report(event)
            self._report(ProblemReported(time_s=event.time_s, problem=_hours_ended(event)))
        try:
            ask(self._layout, Request.SUSPEND)
        except ProblemError as error:
            # Such as a full disk: it is tried again.
            write_to_process_log(f"supervisor: not suspended though its hours ended: {error}")
        else:
            self._has_ended = True


def _is_let(layout: RunLayout) -> bool:
    try:
        return status(layout.outside_hours, layout.root) is not None
    except OSError:
        return False


def _hours_ended(event: HoursEnded) -> Problem:
    begin_s = event.begin_s
    again = "" if begin_s is None else f", and continues at {moment_text(begin_s, event.time_s)}"
    return Problem(
        code="hours_ended",
        severity=Severity.HINT,
        message=f"The hours of the run ({event.hours}) have ended: it is asked to suspend{again}.",
        hint="Take its entry out of the queue, and it stays suspended; resume it at any time.",
    )


def _not_queued(error: ProblemError) -> Problem:
    cause = error.problems[0]
    return Problem(
        code="hours_not_queued",
        severity=Severity.WARNING,
        message="The hours of the run have ended, and it is suspended, but nothing continues it "
        f"when they begin again: it could not be put into the queue. {cause.message}",
        hint=f"Resume it yourself. {cause.hint}".strip(),
        detail=cause.detail,
    )
