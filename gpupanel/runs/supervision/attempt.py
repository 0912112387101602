"""One attempt of a run: its gang is started, watched, and ended.

What its processes report is read by :mod:`gang_reports`, they are ended by :mod:`gang_watchdog`,
and :mod:`gang_end` says how the attempt ended; each knows those before it.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

from gpupanel.devices.network_access import network_access
from gpupanel.domain.clock_jumps import ClockWatch
from gpupanel.domain.events import (
    Event,
    MemoryExhausted,
    Phase,
    ProblemReported,
    TrainerStarted,
    TrainingEnded,
)
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.rules.network_rules import port_open
from gpupanel.runs.directory.log_since import LogSince
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.cluster_gang import ClusterGang, NotWantedError, RemoteMember
from gpupanel.runs.supervision.exit_reading import LIMITED, Ending
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gang import Gang, Member
from gpupanel.runs.supervision.gang_end import GangEnd
from gpupanel.runs.supervision.gang_reports import GangReports
from gpupanel.runs.supervision.gang_watchdog import GangWatchdog
from gpupanel.runs.supervision.gpu_loss import GpuLossWatch
from gpupanel.runs.supervision.memory.shortage_watch import ShortageWatch
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.stop_requests import StopRequests
from gpupanel.runs.supervision.watchdogs import Patience, machine_slept

_TICK_S: Final = 0.1
_LOG_BYTES: Final = 16 * 1024
_LOG_LINES: Final = 60
"""Of an aborted process: TensorFlow's trace of its stack stands behind what it has to say."""

_LOST_AT_START: Final = frozenset({"cluster_lost", "node_not_in_cluster", "node_not_ready"})
"""Something of a cluster went away while the gang was started: as when it goes away later."""


class Attempt:
    """Starts the gang of a run once, and reads how that ends.

    Args:
        run: What is handed to its processes.
        plan: What to start.
        command: Of a trainer, without the run's directory.
        patience: How long the watchdogs wait.
        report: Writes an event of the supervisor's.
        news: The events of the run, read up to where this attempt begins.
        requests: That end the run.
        findings: Finds out why the training is slower than it could be; ``None``: nobody does.
        samples: Takes what the devices of a cluster's nodes report.
        append: Appends a line that a process on such a node has reported.
        gpus: Knows which GPUs of the run are lost; ``None``: nobody asks.

    Attributes:
        exit_code: Of the process to blame, else of the leader; ``None``: it never started.
        shortage: Of the process to blame, when it was memory that it lacked.
    """

    def __init__(
        self,
        run: CheckedRun,
        plan: LaunchPlan,
        command: Sequence[str],
        patience: Patience,
        report: Callable[[Event], None],
        news: LineTail,
        requests: StopRequests,
        findings: FindingWatch | None = None,
        samples: NodeSamples | None = None,
        append: Callable[[str], None] = lambda _line: None,
        gpus: GpuLossWatch | None = None,
    ) -> None:
        self.exit_code: int | None = None
        self.shortage: MemoryExhausted | None = None
        layout = run.layout
        self._report = report
        self._requests = requests
        self._findings = findings
        self._clocks = ClockWatch(time.time(), time.monotonic())
        self._logs = [LogSince(layout.process_log(place)) for place in range(len(plan.gang))]
        shortages = self._shortages = ShortageWatch(plan, self._logs)

        def listen(event: Event) -> None:
            if findings is not None:
                findings.notice(event)
            if isinstance(event, MemoryExhausted):
                shortages.take(event)

        self._reports = GangReports(layout.events, news, listen)
        self._gang: Gang | ClusterGang = (
            Gang(run, plan, command)
            if plan.cluster is None
            else ClusterGang(run, plan, samples or NodeSamples(), append, self._skip)
        )
        self._watchdog = GangWatchdog(
            plan, self._gang, self._reports, requests, patience, report, gpus
        )
        self._end = GangEnd(
            layout, self._gang, self._reports, self._watchdog, requests, patience, report
        )

    @property
    def said(self) -> TrainingEnded | None:
        """The leader's last word, if it had one."""
        return self._reports.said

    @property
    def data(self) -> DataPreview | None:
        """What the leader has said of the data; ``None``: nothing."""
        return self._reports.data

    @property
    def metrics(self) -> Metrics:
        """What the run has reached, as far as it reported."""
        return self.said.metrics if self.said is not None else self._reports.status.metrics

    @property
    def saved_work(self) -> SavedWork | None:
        """What of a training is saved, as far as the run reported."""
        return self._reports.status.saved_work

    @property
    def has_begun_steps(self) -> bool:
        """Whether data and model were there, as far as the leader has said."""
        return self._reports.status.phase not in (Phase.LOADING_DATA, Phase.BUILDING_MODEL)

    @property
    def has_imported(self) -> bool:
        """Whether the leader came further than the import of TensorFlow, as far as it has said."""
        return self._reports.status.phase not in (Phase.STARTING, Phase.IMPORTING_TENSORFLOW)

    @property
    def stop_asked(self) -> bool:
        """Whether a person asked the run to stop, to suspend or to end."""
        return self._watchdog.stop_asked

    def name(self, place: int) -> str:
        """The name of a process for people: "worker 1"."""
        return self._gang.members[place].name

    def last_log_lines(self) -> tuple[str, ...]:
        """The last lines of the logs of all processes, of what this attempt has written."""
        last = (log.last_lines(_LOG_BYTES)[-_LOG_LINES:] for log in self._logs)
        return tuple(line.decode(errors="replace") for lines in last for line in lines)

    def run(self) -> Ending:
        """Run the gang to its end; nothing of it is left running.

        Raises:
            OSError: A process could not be started.
            ProblemError: The cluster refuses the run.
        """
        try:
            self._gang.start(self._report_started, self._is_wanted)
            self._report_open_port()
            failure = self._watch()
        except NotWantedError:
            return Ending(outcome=Outcome.STOPPED)
        except ProblemError as error:
            if error.problems[0].code not in _LOST_AT_START:
                raise
            return Ending(outcome=Outcome.FAILED, problem=error.problems[0], can_restart=True)
        finally:
            self._gang.end()
        self._take_news()
        ending = self._end.ending(failure)
        self.exit_code = self._gang.members[ending.place].exit_code
        self.shortage = self._shortage_behind(ending)
        return ending

    def _watch(self) -> Ending | None:
        """Until the last process has ended, or there is nothing to wait for any more."""
        while self._gang.is_there():
            self._gang.poll()
            there = (member for member in self._gang.local_members if member.is_there)
            self._shortages.observe((member.place, member.pid) for member in there)
            self._report_notices()
            self._report_jump()
            self._take_news()
            self._watchdog.act()
            if self._findings is not None and not self.stop_asked:
                self._findings.look(self._report)
            if self._watchdog.has_killed_in_vain:
                return None
            is_late = not self._gang.is_there() or self._end.has_waited_for_the_rest()
            failure = self._end.failure(is_late=is_late)
            if failure is not None or is_late:
                return failure
            time.sleep(_TICK_S)
        return None

    def _shortage_behind(self, ending: Ending) -> MemoryExhausted | None:
        """What was not to be had; reported here where the process could not any more."""
        if ending.outcome is Outcome.FAILED:
            return self._shortages.reported_by(ending.place)
        if ending.outcome is not Outcome.LOST or self._watchdog.has_killed:
            return None
        if ending.problem is not None and ending.problem.code in LIMITED:
            return None
        if not self._gang.local_members:
            return None  # what this machine's kernel counts says nothing of other nodes
        shortage = self._shortages.behind_death_of(ending.place, self.exit_code)
        if shortage is not None:
            self._report(shortage)
        return shortage

    def _take_news(self) -> None:
        """Take in what the trainers wrote and what people asked."""
        # First: what was written before a request must be known when it is acted on.
        asked = self._requests.ending()
        self._reports.read(is_over=not self._gang.is_there())
        self._watchdog.note_request(asked)

    def _skip(self, append: Callable[[], None]) -> None:
        """Pass over what is appended now: the last words of a start before this one."""
        self._take_news()
        self._reports.pass_over(append)

    def _is_wanted(self, waiting: Problem | None) -> bool:
        """Whether the run is still to start, while it waits for what it needs."""
        self._reports.last_sign_s = time.monotonic()
        if waiting is not None:
            self._report(ProblemReported(time_s=time.time(), problem=waiting))
        return self._watchdog.is_start_wanted()

    def _report_started(self, member: Member | RemoteMember) -> None:
        self._report(
            TrainerStarted(
                time_s=time.time(), pid=member.pid, process=member.place, name=member.name
            )
        )

    def _report_notices(self) -> None:
        notices = self._gang.notices
        while notices:
            self._report(ProblemReported(time_s=time.time(), problem=notices.pop(0)))

    def _report_jump(self) -> None:
        """Report what the machine has slept: it is no time of the run."""
        jump = self._clocks.jump(time.time(), time.monotonic())
        if jump is not None:
            self._report(jump)
            self._report(ProblemReported(time_s=jump.time_s, problem=machine_slept(jump.gap_s)))

    def _report_open_port(self) -> None:
        """Report where the gang got no network of its own, so other users could reach it."""
        if not self._gang.network_refusal:
            return
        write_to_process_log(f"supervisor: no network of its own: {self._gang.network_refusal}")
        problem = port_open(network_access())
        if problem is not None:
            self._report(ProblemReported(time_s=time.time(), problem=problem))
