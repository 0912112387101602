"""One attempt of a run: its gang is started, watched, and ended.

What its processes report is read by :mod:`gang_reports`; :mod:`gang_end` ends them where a watchdog
or a person wants that, and reads how they ended.
"""

import time
from collections.abc import Callable
from typing import Final

from gpupanel.devices.network_access import network_access
from gpupanel.domain.clock_jumps import ClockWatch
from gpupanel.domain.events import MemoryExhausted, ProblemReported, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.rules.network_rules import port_open
from gpupanel.runs.directory.log_since import LogSince
from gpupanel.runs.following.event_tail import Part
from gpupanel.runs.processes.process_ends import wait_for_end
from gpupanel.runs.supervision.attempt_setup import AttemptSetup
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.cluster_gang import ClusterGang
from gpupanel.runs.supervision.exit_reading import FinishedAttempt, RunResult
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gang import Gang, Member, StartCancelledError
from gpupanel.runs.supervision.gang_end import GangEnd, GangWatchdog
from gpupanel.runs.supervision.gang_reports import GangReports
from gpupanel.runs.supervision.local_gang import LocalGang
from gpupanel.runs.supervision.memory.shortage_watch import ShortageWatch
from gpupanel.runs.supervision.problems import LIMITED, machine_slept

_TICK_S: Final = 0.5
"""Between two looks at what was reported and asked; the end of a process is seen at once."""
_TICK_OF_NODES_S: Final = 0.1
"""Where the processes are on the nodes of a cluster, their ends are only reported."""
_LOG_BYTES: Final = 16 * 1024
_LOG_LINES: Final = 60
"""Of an aborted process: TensorFlow's stack trace stands behind what it reports."""

_LOST_AT_START: Final = frozenset({"cluster_lost", "node_not_in_cluster", "node_not_ready"})
"""Something of a cluster went away while the gang was started: as when it goes away later."""


class Attempt:
    """Starts the gang of a run once, and reads how that ends."""

    def __init__(self, setup: AttemptSetup) -> None:
        layout, plan = setup.run.layout, setup.plan
        self._setup = setup
        self._clocks = ClockWatch(time.time(), time.monotonic())
        self._logs = [LogSince(layout.process_log(place)) for place in range(len(plan.gang))]
        self._shortages = ShortageWatch(plan, self._logs)
        listener = _listener(setup.findings, self._shortages)
        epochs = _epochs_of(setup.run)
        self._reports = GangReports(layout.events, setup.events, listener, epochs)
        self._gang = self._make_gang()
        self._watchdog = GangWatchdog(setup, self._gang, self._reports)
        self._end = GangEnd(setup, self._gang, self._reports, self._watchdog)

    def run(self) -> FinishedAttempt:
        """Run the gang to its end; nothing of it is left running.

        Raises:
            OSError: A process could not be started.
            ProblemError: The cluster refuses the run.
        """
        not_started = failure = None
        try:
            self._gang.start(self._report_started)
            self._report_open_port()
            failure = self._watch()
        except StartCancelledError:
            not_started = RunResult(outcome=Outcome.STOPPED)
        except ProblemError as error:
            problem = error.problems[0]
            if problem.code not in _LOST_AT_START:
                raise
            not_started = RunResult(outcome=Outcome.FAILED, problem=problem, can_restart=True)
        finally:
            self._gang.end()
        if not_started is not None:
            return self._finished(not_started)
        self._read_events()
        if self._setup.findings is not None:
            self._setup.findings.look(self._setup.report, is_over=True)
        result = self._end.result(failure)
        exit_code = self._gang.members[result.place].exit_code
        return self._finished(result, exit_code, self._shortage_behind(result, exit_code))

    def _make_gang(self) -> Gang:
        setup = self._setup
        if setup.plan.cluster is None:
            return LocalGang(setup.run, setup.plan, setup.command)
        return ClusterGang(
            setup.run,
            setup.plan,
            setup.node_samples,
            setup.append_line,
            self._append_old,
            self._is_wanted,
        )

    def _watch(self) -> RunResult | None:
        """Until the last process has ended, or there is nothing to wait for any more."""
        findings = self._setup.findings
        while self._gang.is_there():
            self._gang.poll()
            there = (member for member in self._gang.local_members if member.is_there)
            self._shortages.observe((member.place, member.pid) for member in there)
            self._report_notices()
            self._report_jump()
            self._setup.hours.look()
            self._read_events()
            self._setup.claims.expect_end(self._reports.status.seconds_left)
            self._watchdog.act()
            if findings is not None and not self._watchdog.stop_requested:
                findings.look(self._setup.report)
            if self._watchdog.has_killed_in_vain:
                return None
            is_late = not self._gang.is_there() or self._end.has_waited_for_the_rest()
            failure = self._end.failure(is_late=is_late)
            if failure is not None or is_late:
                return failure
            self._wait()
        return None

    def _wait(self) -> None:
        pids = [member.pid for member in self._gang.local_members if member.is_there]
        if pids:
            wait_for_end(pids, _TICK_S)
        else:
            time.sleep(_TICK_OF_NODES_S)

    def _finished(
        self,
        result: RunResult,
        exit_code: int | None = None,
        shortage: MemoryExhausted | None = None,
    ) -> FinishedAttempt:
        logs = (log.last_lines(_LOG_BYTES)[-_LOG_LINES:] for log in self._logs)
        return FinishedAttempt(
            result=result,
            exit_code=exit_code,
            process_name=self._gang.members[result.place].name if self._gang.members else "",
            shortage=shortage,
            last_report=self._reports.last_report,
            status=self._reports.status,
            data=self._reports.data,
            log_lines=tuple(line.decode(errors="replace") for lines in logs for line in lines),
            stop_requested=self._watchdog.stop_requested,
        )

    def _shortage_behind(self, result: RunResult, exit_code: int | None) -> MemoryExhausted | None:
        """What memory the process to blame lacked; reported here where it could not any more."""
        if result.outcome is Outcome.FAILED:
            return self._shortages.reported_by(result.place)
        if result.outcome is not Outcome.LOST or self._watchdog.has_killed:
            return None
        if result.problem is not None and result.problem.code in LIMITED:
            return None
        if not self._gang.local_members:
            return None  # what this machine's kernel counts says nothing of other nodes
        shortage = self._shortages.behind_death_of(result.place, exit_code)
        if shortage is not None:
            self._setup.report(shortage)
        return shortage

    def _read_events(self) -> None:
        """Take in what the processes wrote and what people asked."""
        # First: what was written before a request must be known when it is acted on.
        asked = self._setup.requests.ending()
        self._reports.read(is_over=not self._gang.is_there())
        self._watchdog.note_request(asked)

    def _append_old(self, append: Callable[[], None]) -> None:
        """Pass over what is appended now: the last events of an attempt before this one."""
        self._read_events()
        self._reports.skip(append)

    def _is_wanted(self, waiting: Problem | None) -> bool:
        """Whether the run is still to start, while it waits for what it needs."""
        self._reports.last_event_s = time.monotonic()
        if waiting is not None:
            self._report(waiting)
        return self._watchdog.is_start_wanted()

    def _report_started(self, member: Member) -> None:
        self._setup.report(
            TrainerStarted(
                time_s=time.time(), pid=member.pid, process=member.place, name=member.name
            )
        )

    def _report_notices(self) -> None:
        notices = self._gang.notices
        while notices:
            self._report(notices.pop(0))

    def _report_jump(self) -> None:
        """Report what the machine has slept: it is no time of the run."""
        jump = self._clocks.jump(time.time(), time.monotonic())
        if jump is not None:
            self._setup.report(jump)
            self._setup.report(
                ProblemReported(time_s=jump.time_s, problem=machine_slept(jump.gap_s))
            )

    def _report_open_port(self) -> None:
        """Report where the gang got no network of its own, so other users could reach it."""
        if not self._gang.network_refusal:
            return
        write_to_process_log(f"supervisor: no network of its own: {self._gang.network_refusal}")
        problem = port_open(network_access())
        if problem is not None:
            self._report(problem)

    def _report(self, problem: Problem) -> None:
        self._setup.report(ProblemReported(time_s=time.time(), problem=problem))


def _epochs_of(run: CheckedRun) -> int:
    """Those that a run is to train; 0 where its profile cannot be read: the trainer says so."""
    try:
        return run.profile().epochs_to_train
    except ProblemError:
        return 0


def _listener(findings: FindingWatch | None, shortages: ShortageWatch) -> Callable[[Part], None]:
    """What hands on the events of the processes to those that draw conclusions from them."""

    def listen(event: Part) -> None:
        if findings is not None:
            findings.notice(event)
        if isinstance(event, MemoryExhausted):
            shortages.take(event)

    return listen
