"""One attempt of a run: its gang is started, watched, and ended."""

import math
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gpupanel.devices.network_access import network_access
from gpupanel.domain.clock_jumps import ClockWatch
from gpupanel.domain.events import (
    DataReady,
    Event,
    MemoryExhausted,
    Phase,
    ProblemReported,
    RequestAnswered,
    TrainerStarted,
    TrainingEnded,
    decode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.patient_log import MAY_PASS
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.rules.network_rules import port_open
from gpupanel.runs.directory.run_folder import has_checkpoint
from gpupanel.runs.directory.tails import LineTail, last_lines
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.supervision.cluster_gang import ClusterGang, NotWantedError, RemoteMember
from gpupanel.runs.supervision.exit_reading import (
    Ending,
    MemberSeen,
    is_alone,
    not_killable,
    read_end,
    read_failure,
)
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gang import Gang, Member
from gpupanel.runs.supervision.gpu_loss import GpuLossWatch
from gpupanel.runs.supervision.liveness import ProcessorUse, waits_in_kernel
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.shortage_watch import ShortageWatch
from gpupanel.runs.supervision.stop_requests import StopRequests
from gpupanel.runs.supervision.watchdogs import Act, Patience, Watched, decide, machine_slept

_TICK_S = 0.1
_LOG_BYTES: Final = 16 * 1024
_LOG_LINES: Final = 60
"""Of an aborted process: TensorFlow's trace of its stack stands behind what it has to say."""
_LAST_READ_S = 10.0
"""How long the last words of a run are tried, on a disk that does not answer."""

_LOST_AT_START: Final = frozenset({"cluster_lost", "node_not_in_cluster", "node_not_ready"})
"""Something of a cluster went away while the gang was started: as when it goes away later."""

Report = Callable[[Event], None]


class Attempt:
    """Starts the gang of a run once, and reads how that ends.

    Args:
        layout: The run.
        plan: What to start.
        command: Of a trainer, without the run's directory.
        patience: How long the watchdogs wait.
        report: Writes an event of the supervisor's.
        news: The events of the run, read up to where this attempt begins.
        stop_requests: That end the run.
        findings: Finds out why the training is slower than it could be; ``None``: nobody does.
        samples: Takes what the devices of a cluster's nodes report.
        append: Appends a line that a process on such a node has reported.
        gpus: Knows which GPUs of the run are lost; ``None``: nobody asks.

    Attributes:
        said: The leader's last word, if it had one.
        exit_code: Of the process to blame, else of the leader; ``None``: it never started.
        shortage: Of the process to blame, when it was memory that it lacked.
        data: What the leader has said of it; ``None``: nothing.
    """

    def __init__(
        self,
        layout: RunLayout,
        plan: LaunchPlan,
        command: Sequence[str],
        patience: Patience,
        report: Report,
        news: LineTail,
        stop_requests: StopRequests,
        findings: FindingWatch | None = None,
        samples: NodeSamples | None = None,
        append: Callable[[str], None] = lambda _line: None,
        gpus: GpuLossWatch | None = None,
    ) -> None:
        self.said: TrainingEnded | None = None
        self.exit_code: int | None = None
        self.shortage: MemoryExhausted | None = None
        self.data: DataPreview | None = None
        self._layout = layout
        self._plan = plan
        self._log_begins: dict[int, int] = {}
        self._gang: Gang | ClusterGang = (
            Gang(layout, plan, command)
            if plan.cluster is None
            else ClusterGang(layout, plan, samples or NodeSamples(), append, self._skip)
        )
        self._patience = patience
        self._report = report
        self._news = news
        self._stop_requests = stop_requests
        self._findings = findings
        self._gpus = gpus
        self._compiles_for = tuple(plan.device_name(key) for key in plan.compiles_for)
        self._use = ProcessorUse()
        self._clocks = ClockWatch(time.time(), time.monotonic())
        self._longest_silence_s = 0.0
        self._is_wait_said = False
        self._killed_s: float | None = None
        self._status = RunStatus()
        self._shortages = ShortageWatch(layout, plan)
        self._last_words: dict[int, TrainingEnded] = {}
        self._watchdog: Problem | None = None
        self._last_sign_s = time.monotonic()
        self._stop_asked_s: float | None = None
        self._terminated_s: float | None = None
        self._killed = False
        self._is_unread_said = False
        self._events_time_ns: int | None = None
        self._ends_since_s: float | None = None

    @property
    def metrics(self) -> Metrics:
        """What the run has reached, as far as it reported."""
        return self.said.metrics if self.said is not None else self._status.metrics

    @property
    def saved_work(self) -> SavedWork | None:
        """What of a training is saved, as far as the run reported."""
        return self._status.saved_work

    @property
    def stop_asked(self) -> bool:
        """Whether a person asked the run to stop, to suspend or to end."""
        return self._stop_asked_s is not None

    def run(self) -> Ending:
        """Run the gang to its end; nothing of it is left running.

        Raises:
            OSError: A process could not be started.
            ProblemError: The cluster refuses the run.
        """
        places = range(len(self._plan.gang))
        self._log_begins = {each: _size(self._layout.process_log(each)) for each in places}
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
        ending = self._ending(failure)
        self.exit_code = self._gang.members[ending.place].exit_code
        self.shortage = self._shortage_behind(ending)
        return ending

    def last_log_lines(self) -> tuple[str, ...]:
        """The last lines of the logs of all processes."""
        places = (member.place for member in self._gang.members)
        return tuple(line for each in places for line in self._log_of(each))

    def _log_of(self, place: int) -> tuple[str, ...]:
        """Without what processes of an earlier attempt have written."""
        path = self._layout.process_log(place)
        written = _size(path) - self._log_begins.get(place, 0)
        return last_lines(path, _LOG_LINES, min(max(written, 0), _LOG_BYTES))

    @property
    def has_begun_steps(self) -> bool:
        """Whether data and model were there, as far as the leader has said."""
        return self._status.phase not in (Phase.LOADING_DATA, Phase.BUILDING_MODEL)

    def name(self, place: int) -> str:
        """The name of a process for people: "worker 1"."""
        return self._gang.members[place].name

    def _shortage_behind(self, ending: Ending) -> MemoryExhausted | None:
        """What was not to be had; reported here where the process could not any more."""
        if ending.outcome is Outcome.FAILED:
            return self._shortages.reported_by(ending.place)
        if ending.outcome is not Outcome.LOST or self._killed:
            return None
        if not self._gang.local_members:
            return None  # what this machine's kernel counts says nothing of other nodes
        shortage = self._shortages.behind_death_of(ending.place, self.exit_code)
        if shortage is not None:
            self._report(shortage)
        return shortage

    def _ending(self, failure: Ending | None) -> Ending:
        """How the run ended, also where a process of it cannot be ended."""
        left = next((each for each in self._gang.local_members if each.is_there), None)
        if left is None:
            return failure or self._read_end()
        problem = not_killable(left.name, left.pid, waits=waits_in_kernel(left.pid))
        if failure is None and self._watchdog is None:
            return Ending(outcome=Outcome.LOST, problem=problem, place=left.place)
        beside = problem.model_copy(update={"severity": Severity.WARNING})
        self._report(ProblemReported(time_s=time.time(), problem=beside))
        ending = failure or self._read_end()
        # Another attempt would meet the same driver, and what this process holds.
        return ending.model_copy(update={"outcome": Outcome.LOST, "can_restart": False})

    def _watch(self) -> Ending | None:
        """Until the last process has ended, or there is nothing to wait for any more."""
        while self._gang.is_there():
            self._gang.poll()
            there = (member for member in self._gang.local_members if member.is_there)
            self._shortages.observe((member.place, member.pid) for member in there)
            self._report_notices()
            self._report_jump()
            self._take_news()
            self._act()
            if self._findings is not None and not self.stop_asked:
                self._findings.look(self._report)
            if time.monotonic() - (self._killed_s or math.inf) > self._patience.kill_s:
                return None  # it waits in the kernel
            is_late = not self._gang.is_there() or self._has_waited_for_the_rest()
            failure = self._read_failure(is_late=is_late)
            if failure is not None or is_late:
                return failure
            time.sleep(_TICK_S)
        return None

    def _is_wanted(self, waiting: Problem | None) -> bool:
        """Whether the run is still to start, while it waits for what it needs."""
        self._last_sign_s = time.monotonic()
        if waiting is not None:
            self._report(ProblemReported(time_s=time.time(), problem=waiting))
        asked = self._stop_requests.ending()
        if asked is None:
            return True
        self._stop_asked_s = time.monotonic()
        self._report(RequestAnswered(time_s=time.time(), request=asked))
        return False

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

    def _new_lines(self) -> Sequence[bytes] | None:
        """What was written since; ``None`` while it cannot be read: the training goes on.

        The last words are tried for longer: nobody comes back for them.
        """
        until_s = time.monotonic() + (0.0 if self._gang.is_there() else _LAST_READ_S)
        while True:
            try:
                return self._news.read()
            except OSError as error:
                if not self._is_unread_said:
                    self._is_unread_said = True
                    write_to_process_log(
                        f"supervisor: the run's events cannot be read now: {error}"
                    )
                if error.errno not in MAY_PASS or time.monotonic() >= until_s:
                    return None
            time.sleep(_TICK_S)

    def _skip(self, leave: Callable[[], None]) -> None:
        """Pass over what is appended now: the last words of a start before this one."""
        self._take_news()
        leave()
        while self._new_lines() is not None and self._news.has_more:
            continue

    def _has_tried_to_report(self) -> bool:
        """Whether a trainer that finds no space has touched the events since the last time."""
        try:
            found = status(self._layout.events)
        except OSError:
            return False
        before, self._events_time_ns = self._events_time_ns, found.st_mtime_ns if found else None
        return self._events_time_ns != before

    def _take_news(self) -> None:
        """Take in what the trainers wrote and what people asked."""
        # First: what was written before a request must be known when it is acted on.
        ending = self._stop_requests.ending()
        is_ending = ending is not None
        has_more = True
        while has_more:
            lines = self._new_lines()
            if lines is None or (not lines and self._has_tried_to_report()):
                # Silence is no hang where nobody can read, or write, the reports.
                self._last_sign_s = time.monotonic()
            for line in lines or ():
                self._note_sign()
                self._take(decode_event(line))
            if lines is None:
                break
            has_more = self._news.has_more
        self.said = self._last_words.get(0)
        if self._stop_asked_s is None and is_ending:
            self._stop_asked_s = time.monotonic()
            if ending is not None:
                self._gang.show_request(ending)
            if not self._stop_requests.reach_trainers:
                self._gang.signal(signal.SIGTERM)

    def _take(self, event: Event) -> None:
        self._status = self._status.after(event)
        if isinstance(event, DataReady):
            self.data = DataPreview(
                example_count=event.training_examples + event.validation_examples,
                training_count=event.training_examples,
                trained_count=event.training_examples,
                held_out_count=event.validation_examples,
                test_example_count=event.test_examples,
                feature_shape=event.feature_shape,
            )
        if self._findings is not None:
            self._findings.notice(event)
        if isinstance(event, MemoryExhausted):
            self._shortages.take(event)
        elif isinstance(event, TrainingEnded):
            self._last_words.setdefault(event.process, event)

    def _note_sign(self) -> None:
        now_s = time.monotonic()
        if self._status.first_step_time_s is not None:
            silence_s = now_s - self._last_sign_s
            self._longest_silence_s = max(self._longest_silence_s, silence_s)
        self._last_sign_s = now_s

    def _act(self) -> None:
        now_s = time.monotonic()
        self._use.observe(now_s, sum(each.processor_s for each in self._gang.members))
        watched = Watched(
            now_s=now_s,
            last_sign_s=self._last_sign_s,
            stop_asked_s=self._stop_asked_s,
            end_asked=self._stop_requests.ending() is Request.END,
            terminated_s=self._terminated_s,
            works=self._use.is_much,
            compiles_for=self._compiles_for,
            lost=self._gpus.lost_names if self._gpus is not None else (),
            lost_since_s=self._gpus.since_s if self._gpus is not None else None,
            others_answer=self._gpus is not None and self._gpus.others_answer,
            unanswered=self._gpus.unanswered(now_s) if self._gpus is not None else {},
            longest_silence_s=self._longest_silence_s,
            is_wait_said=self._is_wait_said,
        )
        act, problem = decide(self._status, watched, self._patience)
        if act is Act.KILL and self._killed:
            return
        if problem is not None:
            self._is_wait_said |= act is Act.NOTHING
            self._watchdog = problem if problem.is_error else None
            self._report(ProblemReported(time_s=time.time(), problem=problem))
        if act is Act.TERMINATE:
            self._terminated_s = watched.now_s
            if (asked := self._stop_requests.ending()) is not None:
                self._report(RequestAnswered(time_s=time.time(), request=asked))
            self._gang.signal(signal.SIGTERM)
        elif act is Act.KILL:
            self._killed, self._killed_s = True, watched.now_s
            if watched.end_asked:
                self._report(RequestAnswered(time_s=time.time(), request=Request.END))
            self._gang.signal(signal.SIGKILL)

    def _has_waited_for_the_rest(self) -> bool:
        """Whether nothing more is to be expected of the others since a first one ended.

        After the leader's last word they wait to be ended. After a failure that may not be the
        first, the first one may still show itself.
        """
        if self.said is not None and self.said.outcome.was_successful and not is_alone(self.said):
            return not self._gang.leader.is_there
        if not self._last_words and all(member.is_there for member in self._gang.members):
            return False
        now_s = time.monotonic()
        if self._ends_since_s is None:
            self._ends_since_s = now_s
        aborted = any(member.exit_code == -signal.SIGABRT for member in self._gang.members)
        patience_s = self._patience.abort_s if aborted else self._patience.cause_s
        return now_s - self._ends_since_s > min(patience_s, self._patience.cause_s)

    def _read_failure(self, *, is_late: bool) -> Ending | None:
        if self._terminated_s is not None or self._killed:
            return None  # what ends now was ended from here
        members = self._members_seen()
        logs = {
            member.place: last_lines(self._layout.process_log(member.place))
            for member in members
            if member.exit_code
        }
        failure = read_failure(members, logs, is_late=is_late)
        return None if failure is None or self._was_wanted(failure) else failure

    def _was_wanted(self, failure: Ending) -> bool:
        """Whether that is how a process ends that was asked to, by a person or the system.

        One that is killed while it saves is not: what it has not saved is lost.
        """
        exit_code = self._gang.members[failure.place].exit_code
        is_lost = failure.outcome is Outcome.LOST and exit_code != -signal.SIGTERM
        return self.stop_asked and failure.can_restart and not is_lost

    def _read_end(self) -> Ending:
        wanted = None
        if self.stop_asked:
            suspends = self._stop_requests.ending() is Request.SUSPEND and has_checkpoint(
                self._layout
            )
            wanted = Outcome.SUSPENDED if suspends else Outcome.STOPPED
        leader = self._members_seen()[0]
        return read_end(leader, wanted=wanted, watchdog=self._watchdog)

    def _members_seen(self) -> list[MemberSeen]:
        return [
            MemberSeen(
                place=member.place,
                name=member.name,
                exit_code=member.exit_code,
                frozen=member.frozen,
                lost=member.lost,
                said=self._last_words.get(member.place),
            )
            for member in self._gang.members
        ]


def _size(path: Path) -> int:
    try:
        found = status(path)
    except OSError:
        return 0
    return 0 if found is None else found.st_size
