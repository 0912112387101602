"""How the end of a gang's processes is to be read: which of them failed first, and why."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from gpupanel.domain.cluster import AUTO
from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.process_environment import NO_SPACE_STATUS, PORT_TAKEN_STATUS
from gpupanel.domain.value import Value
from gpupanel.files.process_limits import process_count_limit, processor_time_limit
from gpupanel.runs.processes.liveness import Frozen

SUPERVISOR_GONE = "supervisor_gone"
"""Code of the problem that a process reports when it sees that it is alone."""

LIMITED = frozenset({"processor_time_limited", "process_count_limited"})
"""Codes of ends by a limit of the shell, which is not one of memory."""

PEER_LOST = "peer_lost"
ALLOCATION_ENDLESS = "allocation_endless"
_OF_PEERS = (PEER_LOST, "nccl_failed")
"""What a process says that may have been about to end because of another: NCCL's words are the same
where a peer is gone."""
"""Code of the problem that a process reports when another one of its gang went away."""


class Ending(Value):
    """How a run ended, as far as its processes report.

    Attributes:
        place: Of the process that is to blame; 0 where none is.
        can_restart: Another try from the last checkpoint may well succeed.
    """

    outcome: Outcome
    problem: Problem | None = None
    place: int = 0
    can_restart: bool = False


@dataclass(frozen=True, slots=True)
class MemberSeen:
    """What one process of a gang has come to.

    Attributes:
        name: For people: "worker 1".
        exit_code: As :attr:`subprocess.Popen.returncode`; ``None`` while it is there.
        frozen: Why it is taken for dead though it is there.
        lost: Why nothing is known of it any more.
        said: Its last word, if it had one.
        processor_s: Seconds of processor that it had used by its last observation.
    """

    place: int
    name: str
    exit_code: int | None = None
    frozen: Frozen | None = None
    lost: Problem | None = None
    said: TrainingEnded | None = None
    processor_s: float = 0.0


def read_failure(
    members: Sequence[MemberSeen], logs: Mapping[int, tuple[str, ...]], *, is_late: bool
) -> Ending | None:
    """What made a gang fail, if something did; the leader's word of success ends all failing.

    A process that fails ends the other ones with it, so the first that is seen to end need not be
    the one that failed: they report that they lost a peer, or TensorFlow aborts them. Such signs
    count only when it is late: no better one has come.

    Args:
        members: In the order of their places.
        logs: Last lines of each one's log, for the detail.
        is_late: Nothing better is to be expected.
    """
    leader = members[0]
    if leader.said is not None and leader.said.outcome.was_successful and not is_alone(leader.said):
        return None
    signs = [sign for member in members if (sign := _sign(member, logs)) is not None]
    signs = [sign for sign in signs if is_late or sign[0] < _Sign.ENDING]
    return min(signs, key=_surest_and_first)[-1] if signs else None


def is_alone(said: TrainingEnded) -> bool:
    """Whether a process ended because nobody looked after it any more, while the run goes on.

    That is what happens to those on a node whose agent has died; it is no end that was wanted.
    """
    return said.problem is not None and said.problem.code == SUPERVISOR_GONE


def _surest_and_first(sign: "tuple[_Sign, float, Ending]") -> tuple[int, float]:
    return sign[0], sign[1]


def read_end(leader: MemberSeen, *, wanted: Outcome | None, watchdog: Problem | None) -> Ending:
    """What the end of a gang means in which nothing failed by itself.

    Args:
        leader: The process that reports events.
        wanted: The end that a person asked for; ``None``: nobody did.
        watchdog: Why the supervisor ended the processes by itself, if it did.
    """
    if watchdog is not None:
        return Ending(outcome=Outcome.FAILED, problem=watchdog, can_restart=wanted is None)
    if leader.said is not None:
        return Ending(outcome=leader.said.outcome, problem=leader.said.problem)
    if wanted is not None:
        return Ending(outcome=wanted)
    return _vanished(leader, leader.exit_code or 0, ())


class _Sign(IntEnum):
    """How sure it is that a process failed by itself, the surest first."""

    DEAD = auto()
    """Nothing that happens to its peers kills or freezes a process."""
    SAID = auto()
    VANISHED = auto()
    ENDING = auto()
    """It said that it failed and is about to end."""
    TAKEN_ALONG = auto()
    """TensorFlow may have aborted it because of a peer."""
    AFTER_A_PEER = auto()


def _sign(
    member: MemberSeen, logs: Mapping[int, tuple[str, ...]]
) -> tuple[_Sign, float, Ending] | None:
    """How sure it is that this one failed by itself, when it said so, and its failure."""
    if member.lost is not None:
        ending = Ending(
            outcome=Outcome.LOST, problem=member.lost, place=member.place, can_restart=True
        )
        return _Sign.DEAD, 0.0, ending
    if member.frozen is not None and member.exit_code is None:
        return _Sign.DEAD, 0.0, _frozen_problem(member, member.frozen)
    if member.said is not None:
        return _sign_said(member, member.said)
    code = member.exit_code
    if code is None:
        return None
    vanished = _vanished(member, code, logs.get(member.place, ()))
    if code == -signal.SIGABRT and not _lacked_threads(logs.get(member.place, ())):
        return _Sign.TAKEN_ALONG, 0.0, vanished
    crashed = code >= 0 or -code in (*_CRASHES, signal.SIGABRT)
    return (_Sign.VANISHED if crashed else _Sign.DEAD), 0.0, vanished


def _sign_said(member: MemberSeen, said: TrainingEnded) -> tuple[_Sign, float, Ending] | None:
    alone = is_alone(said)
    if said.problem is None or (said.outcome.was_successful and not alone):
        return None
    lost = alone or said.problem.code in _OF_PEERS
    outcome = Outcome.LOST if alone else said.outcome
    ending = Ending(outcome=outcome, problem=said.problem, place=member.place, can_restart=lost)
    if lost:
        return _Sign.AFTER_A_PEER, said.time_s, ending
    return (_Sign.ENDING if member.exit_code is None else _Sign.SAID), said.time_s, ending


_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


def _frozen_problem(member: MemberSeen, frozen: Frozen) -> Ending:
    name = _capital(member.name)
    match frozen:
        case Frozen.NEVER_BEGAN:
            code, message = "process_never_began", f"{name} was started but never began to work."
            hint = "Check its log; a broken installation or an unreachable disk does this."
        case Frozen.STOPPED:
            code = "process_frozen"
            message = f"{name} is frozen: it was stopped (SIGSTOP) and not continued."
            hint = "Something suspended the process, such as a shell or a power manager."
        case Frozen.SILENT:
            code = "process_frozen"
            message = f"{name} is frozen: it reported nothing and used no CPU time."
            hint = "A driver or the machine itself hung; gpupanel doctor checks both."
        case Frozen.ENDLESS:
            code = "allocation_endless"
            message = f"{name} asked a full GPU for memory without end."
            hint = "Others hold all of it: end what uses the GPU, or use another one."
    problem = Problem(code=code, message=message, hint=f"{hint} {_GO_ON}")
    return Ending(outcome=Outcome.FAILED, problem=problem, place=member.place, can_restart=True)


_GO_ON = "Resume the run from its last checkpoint."


def node_lost(node: str, reason: str) -> Problem:
    """A node of a cluster does not answer any more."""
    return Problem(
        code="node_lost",
        message=f"The node {node} was lost: {reason}.",
        hint=f"See whether the machine and its raylet run. {_GO_ON}",
    )


def head_silent(address: str) -> Problem:
    """The head of a cluster answers no more, while the nodes still do."""
    return Problem(
        code="cluster_head_silent",
        severity=Severity.WARNING,
        message=f"The head of the cluster at {address} does not answer; the run continues on its "
        "nodes for as long as they wait for it, a minute by Ray's default.",
        hint="Start the head again; where it does not come back the run ends with a checkpoint, "
        "and can be resumed.",
    )


def cluster_lost(plan: LaunchPlan) -> Problem:
    """The connection to the cluster broke: its head is gone, or the network to it."""
    address = "" if plan.cluster is None else plan.cluster.address
    where = "on this machine" if address == AUTO else f"at {address}"
    return Problem(
        code="cluster_lost",
        message=f"The Ray cluster {where} was lost: its head ended, or cannot be reached.",
        hint="Start the cluster again; cluster.log in the run's folder has what Ray said. "
        f"{_GO_ON}",
    )


def _without_space(member: MemberSeen, log: tuple[str, ...]) -> Ending:
    """It ended by itself without space to say how: started again it would find none either."""
    problem = Problem(
        code="no_space",
        message=f"{_capital(member.name)} ended because the run's disk is full; its last save and "
        "its report found no space.",
        hint=f"Free some space. {_GO_ON}",
        detail="\n".join(log),
    )
    return Ending(outcome=Outcome.FAILED, problem=problem, place=member.place)


def _vanished(member: MemberSeen, exit_code: int, log: tuple[str, ...]) -> Ending:
    name = _capital(member.name)
    if exit_code == NO_SPACE_STATUS:
        return _without_space(member, log)
    if exit_code == PORT_TAKEN_STATUS:
        code, message = "port_taken", f"Another program has taken the port of {member.name}."
        hint = "Start again; other ports are chosen."
    elif exit_code >= 0:
        code = "trainer_vanished"
        message = f"{name} ended with exit code {exit_code} without giving a reason."
        hint = f"Check the last lines of its log. {_GO_ON}"
    elif _used_all_its_time(member, exit_code):
        code = "processor_time_limited"
        message = f"{name} was ended by the system: it has used as much processor time as a "
        message += f"process may here, {processor_time_limit():,} s (ulimit -t)."
        hint = f"Start from a shell without that limit: ulimit -t unlimited. {_GO_ON}"
    elif exit_code == -signal.SIGABRT and _lacked_threads(log):
        code = "process_count_limited"
        message = f"{name} ended because the system gave it no further thread: as many processes "
        message += f"and threads run as this user may have{_most_processes()}."
        hint = "End other programs, or start from a shell with a higher limit (ulimit -u). "
        hint += _GO_ON
    else:
        code = "trainer_killed"
        message = f"{name} was killed by {_signal_name(-exit_code)}."
        hint = _SIGNAL_HINTS.get(-exit_code, _GO_ON)
    return Ending(
        outcome=Outcome.LOST,
        problem=Problem(code=code, message=message, hint=hint, detail="\n".join(log)),
        place=member.place,
        can_restart=True,
    )


def _used_all_its_time(member: MemberSeen, exit_code: int) -> bool:
    """Whether that was the limit of processor time (``RLIMIT_CPU`` of ``getrlimit(2)``).

    The kernel sends SIGXCPU at the soft limit and SIGKILL at the hard one; a shell sets both.
    """
    limit = processor_time_limit()
    if limit is None or -exit_code not in (signal.SIGXCPU, signal.SIGKILL):
        return False
    return exit_code == -signal.SIGXCPU or member.processor_s >= limit - _UNSEEN_S


def _lacked_threads(log: Sequence[str]) -> bool:
    return any(_NO_THREAD in line for line in log)


def _most_processes() -> str:
    limit = process_count_limit()
    return "" if limit is None else f", {limit:,} (ulimit -u)"


def not_killable(name: str, pid: int, *, waits: bool) -> Problem:
    """A process that is there after SIGKILL.

    Args:
        name: For people.
        pid: Of it.
        waits: Whether the system says that it waits in the kernel (state D).
    """
    why = "it waits in the kernel, as a rule for a driver or a disk that does not answer"
    return Problem(
        code="trainer_not_killable",
        message=f"{_capital(name)} (process {pid}) was killed and does not end"
        f"{f': {why}' if waits else ''}. What it holds of a GPU stays taken.",
        hint="Nothing but a restart of the machine ends such a process. Until then other runs "
        f"continue on other devices. {_GO_ON}",
    )


_UNSEEN_S = 3.0
"""What a process uses between its last observation and its end."""
_NO_THREAD = "creation via pthread_create() failed"
"""Of TensorFlow's ``env.cc``, before it aborts."""
_SIGNAL_HINTS: dict[int, str] = {
    signal.SIGKILL: "If nobody did so by hand, the system ran out of memory: use a smaller "
    "global batch or model, or close other programs.",
    signal.SIGSEGV: "A library crashed: run gpupanel doctor, and try without XLA.",
}


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
