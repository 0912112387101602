"""How a gang comes to its end: what the watchdogs do to it, and how its end is read.

:mod:`watchdogs` decides when a gang is ended, :mod:`exit_reading` what its end means; here both are
given what they ask for, and carried out.
"""

import math
import signal
import time

from gpupanel.domain.events import ProblemReported, RequestAnswered
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.request import Request
from gpupanel.runs.directory.run_folder import has_checkpoint
from gpupanel.runs.directory.tails import last_lines
from gpupanel.runs.processes.liveness import ProcessorUse, waits_in_kernel
from gpupanel.runs.supervision.attempt_setup import AttemptSetup
from gpupanel.runs.supervision.exit_reading import (
    ObservedProcess,
    RunResult,
    read_end,
    read_failure,
    reported_success,
)
from gpupanel.runs.supervision.gang import Gang
from gpupanel.runs.supervision.gang_reports import GangReports
from gpupanel.runs.supervision.problems import not_killable
from gpupanel.runs.supervision.watchdogs import Action, Observation, decide


class GangWatchdog:
    """Ends a gang where a watchdog says so, or where a person asked and it does not end by itself.

    Args:
        setup: Of the attempt.
        gang: Its processes are signalled.
        reports: What they report.

    Attributes:
        problem: Why it ended the processes by itself; ``None``: it did not.
    """

    def __init__(self, setup: AttemptSetup, gang: Gang, reports: GangReports) -> None:
        self.problem: Problem | None = None
        self._setup = setup
        self._compiles_for = tuple(map(setup.plan.device_name, setup.plan.compiles_for))
        self._gang = gang
        self._reports = reports
        self._processor_use = ProcessorUse()
        self._has_reported_wait = False
        self._stop_requested_s: float | None = None
        self._terminated_s: float | None = None
        self._killed_s: float | None = None

    @property
    def stop_requested(self) -> bool:
        """Whether a person asked the run to stop, to suspend or to end."""
        return self._stop_requested_s is not None

    @property
    def has_killed(self) -> bool:
        """Whether it sent SIGKILL to the processes."""
        return self._killed_s is not None

    @property
    def has_signalled(self) -> bool:
        """Whether it sent SIGTERM or SIGKILL to the processes."""
        return self.has_killed or self._terminated_s is not None

    @property
    def has_killed_in_vain(self) -> bool:
        """Whether processes are there so long after SIGKILL that they wait in the kernel."""
        return time.monotonic() - (self._killed_s or math.inf) > self._setup.patience.kill_s

    def is_start_wanted(self) -> bool:
        """Whether nobody has asked the run to end before its processes were started."""
        asked = self._setup.requests.ending()
        if asked is None:
            return True
        self._stop_requested_s = time.monotonic()
        self._report_answered(asked)
        return False

    def note_request(self, asked: Request | None) -> None:
        """Take in what people ask of the run: the processes see it, too, from now on."""
        if asked is None or self.stop_requested:
            return
        if asked is Request.SUSPEND and self._setup.plan.program:
            return  # it does so at a place of its own choosing, which may be hours away
        self._stop_requested_s = time.monotonic()
        self._gang.show_request(asked)
        if not self._setup.requests.reach_trainers:
            self._gang.signal(signal.SIGTERM)

    def act(self) -> None:
        """Ask the watchdogs, report what they say and do it."""
        seen = self._observation(time.monotonic())
        action, problem = decide(self._reports.status, seen, self._setup.patience)
        if action is Action.KILL and self.has_killed:
            return
        if problem is not None:
            self._has_reported_wait |= action is Action.NOTHING
            self.problem = problem if problem.is_error else None
            self._setup.report(ProblemReported(time_s=time.time(), problem=problem))
        if action is Action.TERMINATE:
            self._terminated_s = seen.now_s
            if (asked := self._setup.requests.ending()) is not None:
                self._report_answered(asked)
            self._gang.signal(signal.SIGTERM)
        elif action is Action.KILL:
            self._killed_s = seen.now_s
            if seen.end_requested:
                self._report_answered(Request.END)
            self._gang.signal(signal.SIGKILL)

    def _observation(self, now_s: float) -> Observation:
        self._processor_use.observe(now_s, sum(each.processor_s for each in self._gang.members))
        gpus = self._setup.gpus
        return Observation(
            now_s=now_s,
            last_event_s=self._reports.last_event_s,
            stop_requested_s=self._stop_requested_s,
            end_requested=self._setup.requests.ending() is Request.END,
            terminated_s=self._terminated_s,
            uses_processor=self._processor_use.is_much,
            compiles_for=self._compiles_for,
            lost=gpus.lost_names,
            lost_since_s=gpus.since_s,
            others_answer=gpus.others_answer,
            unanswered=gpus.unanswered(now_s),
            longest_silence_s=self._reports.longest_silence_s,
            has_reported_wait=self._has_reported_wait,
            runs_program=bool(self._setup.plan.program),
        )

    def _report_answered(self, request: Request) -> None:
        self._setup.report(RequestAnswered(time_s=time.time(), request=request))


class GangEnd:
    """Sees whether a gang has failed, and reads how it ended.

    Args:
        setup: Of the attempt.
        gang: Its processes.
        reports: What they report.
        watchdog: What was done to them.
    """

    def __init__(
        self, setup: AttemptSetup, gang: Gang, reports: GangReports, watchdog: GangWatchdog
    ) -> None:
        self._setup = setup
        self._gang = gang
        self._reports = reports
        self._watchdog = watchdog
        self._first_ended_s: float | None = None

    def has_waited_for_the_rest(self) -> bool:
        """Whether nothing more is to be expected of the others since a first one ended.

        After the leader's report of success they wait to be ended. After a failure that may not be
        the first, the first one may still show itself.
        """
        members = self._gang.members
        if reported_success(self._reports.last_report):
            return not members[0].is_there
        if not self._reports.last_reports and all(each.is_there for each in members):
            return False
        now_s = time.monotonic()
        if self._first_ended_s is None:
            self._first_ended_s = now_s
        patience = self._setup.patience
        aborted = any(member.exit_code == -signal.SIGABRT for member in members)
        patience_s = patience.abort_s if aborted else patience.cause_s
        return now_s - self._first_ended_s > min(patience_s, patience.cause_s)

    def failure(self, *, is_late: bool) -> RunResult | None:
        """What made the gang fail by itself, if something did.

        Args:
            is_late: Nothing better is to be expected.
        """
        if self._watchdog.has_signalled:
            return None
        processes = self._observed_processes()
        layout = self._setup.run.layout
        logs = {
            each.place: last_lines(layout.process_log(each.place))
            for each in processes
            if each.exit_code
        }
        failure = read_failure(processes, logs, is_late=is_late)
        return None if failure is None or self._was_requested(failure) else failure

    def result(self, failure: RunResult | None) -> RunResult:
        """How the run ended, also where a process of it cannot be ended.

        Args:
            failure: What made it fail by itself; ``None``: nothing did.
        """
        left = next((each for each in self._gang.local_members if each.is_there), None)
        if left is None:
            return failure or self._read_end()
        problem = not_killable(left.name, left.pid, waits=waits_in_kernel(left.pid))
        if failure is None and self._watchdog.problem is None:
            return RunResult(outcome=Outcome.LOST, problem=problem, place=left.place)
        beside = problem.model_copy(update={"severity": Severity.WARNING})
        self._setup.report(ProblemReported(time_s=time.time(), problem=beside))
        result = failure or self._read_end()
        # Another attempt would meet the same driver, and what this process holds.
        return result.model_copy(update={"outcome": Outcome.LOST, "can_restart": False})

    def _was_requested(self, failure: RunResult) -> bool:
        """Whether that is how a process ends that was asked to, by a person or the system.

        One that is killed while it saves is not: what it has not saved is lost.
        """
        exit_code = self._gang.members[failure.place].exit_code
        is_lost = failure.outcome is Outcome.LOST and exit_code != -signal.SIGTERM
        return self._watchdog.stop_requested and failure.can_restart and not is_lost

    def _read_end(self) -> RunResult:
        wanted = None
        if self._watchdog.stop_requested:
            is_suspended = self._setup.requests.ending() is Request.SUSPEND
            is_suspended = is_suspended and has_checkpoint(self._setup.run.layout)
            wanted = Outcome.SUSPENDED if is_suspended else Outcome.STOPPED
        leader = self._observed_processes()[0]
        return read_end(leader, wanted=wanted, watchdog=self._watchdog.problem)

    def _observed_processes(self) -> list[ObservedProcess]:
        return [
            ObservedProcess(
                place=member.place,
                name=member.name,
                exit_code=member.exit_code,
                frozen=member.frozen,
                lost=member.lost,
                last_report=self._reports.last_reports.get(member.place),
                processor_s=member.processor_s,
            )
            for member in self._gang.members
        ]
