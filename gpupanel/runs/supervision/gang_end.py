"""How an attempt ended: by a process of the gang that failed, by request, or by a watchdog."""

import signal
import time
from collections.abc import Callable

from gpupanel.domain.events import Event, ProblemReported
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Severity
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_folder import has_checkpoint
from gpupanel.runs.directory.tails import last_lines
from gpupanel.runs.processes.liveness import waits_in_kernel
from gpupanel.runs.supervision.cluster_gang import ClusterGang
from gpupanel.runs.supervision.exit_reading import (
    Ending,
    MemberSeen,
    is_alone,
    not_killable,
    read_end,
    read_failure,
)
from gpupanel.runs.supervision.gang import Gang
from gpupanel.runs.supervision.gang_reports import GangReports
from gpupanel.runs.supervision.gang_watchdog import GangWatchdog
from gpupanel.runs.supervision.stop_requests import StopRequests
from gpupanel.runs.supervision.watchdogs import Patience


class GangEnd:
    """Sees whether a gang has failed, and reads how it ended.

    Args:
        layout: The run.
        gang: Its processes.
        reports: What they report.
        watchdog: What was done to them.
        requests: That end the run.
        patience: How long after a first process has ended the others are waited for.
        report: Writes an event of the supervisor's.
    """

    def __init__(
        self,
        layout: RunLayout,
        gang: Gang | ClusterGang,
        reports: GangReports,
        watchdog: GangWatchdog,
        requests: StopRequests,
        patience: Patience,
        report: Callable[[Event], None],
    ) -> None:
        self._layout = layout
        self._gang = gang
        self._reports = reports
        self._watchdog = watchdog
        self._requests = requests
        self._patience = patience
        self._report = report
        self._ends_since_s: float | None = None

    def has_waited_for_the_rest(self) -> bool:
        """Whether nothing more is to be expected of the others since a first one ended.

        After the leader's last word they wait to be ended. After a failure that may not be the
        first, the first one may still show itself.
        """
        said = self._reports.said
        if said is not None and said.outcome.was_successful and not is_alone(said):
            return not self._gang.leader.is_there
        if not self._reports.last_words and all(each.is_there for each in self._gang.members):
            return False
        now_s = time.monotonic()
        if self._ends_since_s is None:
            self._ends_since_s = now_s
        aborted = any(member.exit_code == -signal.SIGABRT for member in self._gang.members)
        patience_s = self._patience.abort_s if aborted else self._patience.cause_s
        return now_s - self._ends_since_s > min(patience_s, self._patience.cause_s)

    def failure(self, *, is_late: bool) -> Ending | None:
        """What made the gang fail by itself, if something did.

        Args:
            is_late: Nothing better is to be expected.
        """
        if self._watchdog.has_ended_them:
            return None
        members = self._members_seen()
        logs = {
            member.place: last_lines(self._layout.process_log(member.place))
            for member in members
            if member.exit_code
        }
        failure = read_failure(members, logs, is_late=is_late)
        return None if failure is None or self._was_wanted(failure) else failure

    def ending(self, failure: Ending | None) -> Ending:
        """How the run ended, also where a process of it cannot be ended."""
        left = next((each for each in self._gang.local_members if each.is_there), None)
        if left is None:
            return failure or self._read_end()
        problem = not_killable(left.name, left.pid, waits=waits_in_kernel(left.pid))
        if failure is None and self._watchdog.problem is None:
            return Ending(outcome=Outcome.LOST, problem=problem, place=left.place)
        beside = problem.model_copy(update={"severity": Severity.WARNING})
        self._report(ProblemReported(time_s=time.time(), problem=beside))
        ending = failure or self._read_end()
        # Another attempt would meet the same driver, and what this process holds.
        return ending.model_copy(update={"outcome": Outcome.LOST, "can_restart": False})

    def _was_wanted(self, failure: Ending) -> bool:
        """Whether that is how a process ends that was asked to, by a person or the system.

        One that is killed while it saves is not: what it has not saved is lost.
        """
        exit_code = self._gang.members[failure.place].exit_code
        is_lost = failure.outcome is Outcome.LOST and exit_code != -signal.SIGTERM
        return self._watchdog.stop_asked and failure.can_restart and not is_lost

    def _read_end(self) -> Ending:
        wanted = None
        if self._watchdog.stop_asked:
            is_suspended = self._requests.ending() is Request.SUSPEND and has_checkpoint(
                self._layout
            )
            wanted = Outcome.SUSPENDED if is_suspended else Outcome.STOPPED
        return read_end(self._members_seen()[0], wanted=wanted, watchdog=self._watchdog.problem)

    def _members_seen(self) -> list[MemberSeen]:
        return [
            MemberSeen(
                place=member.place,
                name=member.name,
                exit_code=member.exit_code,
                frozen=member.frozen,
                lost=member.lost,
                said=self._reports.last_words.get(member.place),
                processor_s=member.processor_s,
            )
            for member in self._gang.members
        ]
