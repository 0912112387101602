"""How an attempt of a run ended: which of its processes failed first, and what that means.

Pure functions of what was seen of the processes; :mod:`gang_end` asks them.
"""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from gpupanel.domain.events import MemoryExhausted, Phase, TrainingEnded
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import NO_SPACE_STATUS
from gpupanel.domain.value import Value
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.processes.liveness import Frozen
from gpupanel.runs.supervision.problems import (
    lacked_threads,
    process_frozen,
    unexplained_exit,
)

SUPERVISOR_GONE = "supervisor_gone"
"""Code of the problem that a process reports when it sees that its supervisor is gone."""
PEER_LOST = "peer_lost"
"""Code of the problem that a process reports when another one of its gang went away."""
_PEER_CODES = (PEER_LOST, "nccl_failed")
"""Problems that a process may report because another one failed: NCCL's error is the same then."""
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


class RunResult(Value):
    """How a run ended, as far as its processes report.

    Attributes:
        place: In the gang, of the process that is to blame; 0 where none is.
        can_restart: Another try from the last checkpoint may well succeed.
    """

    outcome: Outcome
    problem: Problem | None = None
    place: int = 0
    can_restart: bool = False


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """What is known of an attempt of a run once none of its processes is left.

    Attributes:
        result: How it ended.
        exit_code: Of the process to blame, else of the leader; ``None``: it never started.
        process_name: Of the process to blame, for people: "worker 1".
        shortage: What memory that process lacked; ``None``: it was not memory.
        last_report: The last event of the leader, where it could still write one.
        status: The sum of what its processes reported; ``None``: none was started.
        data: What the leader reported of the data; ``None``: nothing.
        log_lines: The last lines that its processes wrote to their logs.
        stop_requested: Whether a person asked the run to stop, to suspend or to end.
    """

    result: RunResult
    exit_code: int | None = None
    process_name: str = ""
    shortage: MemoryExhausted | None = None
    last_report: TrainingEnded | None = None
    status: RunStatus | None = None
    data: DataPreview | None = None
    log_lines: tuple[str, ...] = ()
    stop_requested: bool = False

    @property
    def metrics(self) -> Metrics:
        """What the run has reached, as far as it reported."""
        if self.last_report is not None:
            return self.last_report.metrics
        return Metrics() if self.status is None else self.status.metrics

    @property
    def saved_work(self) -> SavedWork | None:
        """What of a training is saved, as far as the run reported."""
        return None if self.status is None else self.status.saved_work

    @property
    def has_imported(self) -> bool:
        """Whether the leader reported anything later than the import of TensorFlow."""
        phase = Phase.STARTING if self.status is None else self.status.phase
        return phase not in (Phase.STARTING, Phase.IMPORTING_TENSORFLOW)

    @property
    def has_begun_steps(self) -> bool:
        """Whether data and model were there, as far as the leader reported."""
        phase = Phase.STARTING if self.status is None else self.status.phase
        return phase not in (Phase.LOADING_DATA, Phase.BUILDING_MODEL)


@dataclass(frozen=True, slots=True)
class ObservedProcess:
    """What one process of a gang has come to.

    Attributes:
        place: In the gang.
        name: For people: "worker 1".
        exit_code: As :attr:`subprocess.Popen.returncode`; ``None`` while it is there.
        frozen: Why it is taken for dead though it is there.
        lost: Why nothing is known of it any more.
        last_report: The event by which it reported its end, if it did.
        processor_s: Seconds of processor that it had used by its last observation.
    """

    place: int
    name: str
    exit_code: int | None = None
    frozen: Frozen | None = None
    lost: Problem | None = None
    last_report: TrainingEnded | None = None
    processor_s: float = 0.0


def read_failure(
    processes: Sequence[ObservedProcess],
    logs: Mapping[int, tuple[str, ...]],
    *,
    is_late: bool,
) -> RunResult | None:
    """What made a gang fail, if something did; nothing did where its leader reported success.

    A process that fails ends the other ones with it, so the first that is seen to end need not be
    the one that failed: they report that they lost a peer, or TensorFlow aborts them. Such signs
    count only when it is late: no better one has come.

    Args:
        processes: In the order of their places.
        logs: Last lines of each one's log, for the detail.
        is_late: Nothing better is to be expected.
    """
    if reported_success(processes[0].last_report):
        return None
    signs = [sign for each in processes if (sign := _sign(each, logs)) is not None]
    signs = [sign for sign in signs if is_late or sign.evidence < _Evidence.REPORTED_BEFORE_END]
    first = min(signs, key=lambda sign: (sign.evidence, sign.time_s), default=None)
    return None if first is None else first.result


def reported_success(last_report: TrainingEnded | None) -> bool:
    """Whether a process reported that it ended as it should.

    One whose supervisor is gone ends with its work saved, but nobody wanted that end: it happens on
    a node whose agent has died while the run goes on elsewhere.
    """
    if last_report is None or not last_report.outcome.was_successful:
        return False
    return not _lost_its_supervisor(last_report)


def _lost_its_supervisor(last_report: TrainingEnded) -> bool:
    problem = last_report.problem
    return problem is not None and problem.code == SUPERVISOR_GONE


def read_end(
    leader: ObservedProcess, *, wanted: Outcome | None, watchdog: Problem | None
) -> RunResult:
    """What the end of a gang means in which nothing failed by itself.

    Args:
        leader: The process that reports events.
        wanted: The end that a person asked for; ``None``: nobody did.
        watchdog: Why the supervisor ended the processes by itself, if it did.
    """
    if watchdog is not None:
        return RunResult(outcome=Outcome.FAILED, problem=watchdog, can_restart=wanted is None)
    if leader.last_report is not None:
        return RunResult(outcome=leader.last_report.outcome, problem=leader.last_report.problem)
    if wanted is not None:
        return RunResult(outcome=wanted)
    return _exited(leader, leader.exit_code or 0, ())


class _Evidence(IntEnum):
    """How sure it is that a process failed by itself and not because of another, surest first."""

    KILLED_OR_FROZEN = auto()
    """No failure of its peers kills or freezes a process."""
    REPORTED = auto()
    """It reported its failure, and has ended."""
    CRASHED = auto()
    REPORTED_BEFORE_END = auto()
    """It reported its failure, and is about to end."""
    ABORTED = auto()
    """TensorFlow may have aborted it because of a peer."""
    LOST_A_PEER = auto()


@dataclass(frozen=True, slots=True)
class _Sign:
    """That a process failed, and when it reported so; 0: it did not report it."""

    evidence: _Evidence
    result: RunResult
    time_s: float = 0.0


def _sign(process: ObservedProcess, logs: Mapping[int, tuple[str, ...]]) -> _Sign | None:
    if process.lost is not None:
        lost = RunResult(
            outcome=Outcome.LOST, problem=process.lost, place=process.place, can_restart=True
        )
        return _Sign(_Evidence.KILLED_OR_FROZEN, lost)
    code = process.exit_code
    if process.frozen is not None and code is None:
        frozen = RunResult(
            outcome=Outcome.FAILED,
            problem=process_frozen(process.name, process.frozen),
            place=process.place,
            can_restart=True,
        )
        return _Sign(_Evidence.KILLED_OR_FROZEN, frozen)
    if process.last_report is not None:
        return _reported_sign(process, process.last_report)
    if code is None:
        return None
    log = logs.get(process.place, ())
    exited = _exited(process, code, log)
    if code == -signal.SIGABRT and not lacked_threads(log):
        return _Sign(_Evidence.ABORTED, exited)
    crashed = code >= 0 or -code in (*_CRASHES, signal.SIGABRT)
    return _Sign(_Evidence.CRASHED if crashed else _Evidence.KILLED_OR_FROZEN, exited)


def _reported_sign(process: ObservedProcess, report: TrainingEnded) -> _Sign | None:
    if report.problem is None or reported_success(report):
        return None
    is_unsupervised = _lost_its_supervisor(report)
    is_of_peer = is_unsupervised or report.problem.code in _PEER_CODES
    result = RunResult(
        outcome=Outcome.LOST if is_unsupervised else report.outcome,
        problem=report.problem,
        place=process.place,
        can_restart=is_of_peer,
    )
    if is_of_peer:
        return _Sign(_Evidence.LOST_A_PEER, result, report.time_s)
    has_ended = process.exit_code is not None
    evidence = _Evidence.REPORTED if has_ended else _Evidence.REPORTED_BEFORE_END
    return _Sign(evidence, result, report.time_s)


def _exited(process: ObservedProcess, exit_code: int, log: tuple[str, ...]) -> RunResult:
    # Started again it would find no space either.
    lacked_space = exit_code == NO_SPACE_STATUS
    return RunResult(
        outcome=Outcome.FAILED if lacked_space else Outcome.LOST,
        problem=unexplained_exit(process.name, exit_code, process.processor_s, log),
        place=process.place,
        can_restart=not lacked_space,
    )
