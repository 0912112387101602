"""The problems that a supervisor reports of processes, nodes, GPUs and the machine, as sentences.

When each of them is reported is decided elsewhere, most of it in :mod:`exit_reading`.
"""

import signal
from collections.abc import Sequence

from gpupanel.domain.cluster import AUTO
from gpupanel.domain.gpu_failure import LOST, GpuFailure
from gpupanel.domain.number_text import duration
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.process_environment import NO_SPACE_STATUS, PORT_TAKEN_STATUS
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.file_obstacles import NO_SPACE
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.process_limits import (
    process_count_limit,
    processor_time_limit,
    time_limit_text,
)
from gpupanel.planning.cluster_check import is_public
from gpupanel.runs.cluster.messages import ReadyPlace
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.processes.liveness import Frozen

ALLOCATION_ENDLESS = "allocation_endless"
LIMITED = frozenset({"processor_time_limited", "process_count_limited"})
"""Codes of ends by a limit of the shell, which is not one of memory."""

_RESUME = "Resume the run from its last checkpoint."
_TIME_UNSEEN_S = 3.0
"""Processor time that a process may use between its last observation and its end."""
_NO_THREAD = "creation via pthread_create() failed"
"""What TensorFlow's ``env.cc`` prints before it aborts."""
_SIGNAL_HINTS: dict[int, str] = {
    signal.SIGKILL: "If nobody did so by hand, the system ran out of memory: use a smaller "
    "global batch or model, or close other programs.",
    signal.SIGSEGV: "A library crashed: run gpupanel doctor, and try without XLA.",
}


def not_started(error: Exception, layout: RunLayout) -> Problem:
    """No process of the run could be started, or its plan could not be read."""
    if isinstance(error, ProblemError):
        return error.problems[0]
    if isinstance(error, UnsafeFileError):
        return unsafe_file(str(error.path), error.found)
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return disk_problem(error, layout.root)
    return Problem(
        code="trainer_not_started",
        message=f"The trainer could not be started: {error}.",
        hint="Run gpupanel doctor; if it finds nothing, install gpupanel again.",
    )


def process_frozen(name: str, frozen: Frozen) -> Problem:
    """A process is there and does nothing, or nothing of use."""
    subject = _capital(name)
    match frozen:
        case Frozen.NEVER_BEGAN:
            code, message = "process_never_began", f"{subject} was started but never began to work."
            hint = "Check its log; a broken installation or an unreachable disk does this."
        case Frozen.STOPPED:
            code = "process_frozen"
            message = f"{subject} is frozen: it was stopped (SIGSTOP) and not continued."
            hint = "Something suspended the process, such as a shell or a power manager."
        case Frozen.SILENT:
            code = "process_frozen"
            message = f"{subject} is frozen: it reported nothing and used no CPU time."
            hint = "A driver or the machine itself hung; gpupanel doctor checks both."
        case Frozen.ENDLESS:
            code = "allocation_endless"
            message = f"{subject} asked a full GPU for memory without end."
            hint = "Others hold all of it: end what uses the GPU, or use another one."
    return Problem(code=code, message=message, hint=f"{hint} {_RESUME}")


def unexplained_exit(name: str, exit_code: int, processor_s: float, log: Sequence[str]) -> Problem:
    """A process ended without having reported why.

    Args:
        name: For people: "worker 1".
        exit_code: Negative: the signal that killed it.
        processor_s: Seconds of processor that it had used by its last observation.
        log: The last lines of its log.
    """
    subject = _capital(name)
    detail = "\n".join(log)
    if exit_code == NO_SPACE_STATUS:
        code = "no_space"
        message = f"{subject} ended because the run's disk is full: what it wrote last found no "
        message += "space."
        hint = f"Free some space. {_RESUME}"
    elif exit_code == PORT_TAKEN_STATUS:
        code = "port_taken"
        message = f"Another program has taken the port of {name}."
        hint = "Start again; other ports are chosen."
    elif exit_code >= 0:
        code = "trainer_vanished"
        message = f"{subject} ended with exit code {exit_code} without giving a reason."
        hint = f"Check the last lines of its log. {_RESUME}"
    elif _has_used_its_time(exit_code, processor_s):
        code = "processor_time_limited"
        message = f"{subject} was ended by the system: it has used as much processor time as a "
        message += f"process may here, {processor_time_limit():,} s (ulimit -t)."
        hint = f"Start from a shell without that limit: ulimit -t unlimited. {_RESUME}"
    elif exit_code == -signal.SIGABRT and lacked_threads(log):
        code = "process_count_limited"
        message = (
            f"{subject} ended because the system gave it no further thread: as many processes "
        )
        message += f"and threads run as this user may have{_most_processes()}."
        hint = "End other programs, or start from a shell with a higher limit (ulimit -u). "
        hint += _RESUME
    else:
        code = "trainer_killed"
        message = f"{subject} was killed by {_signal_name(-exit_code)}."
        hint = _SIGNAL_HINTS.get(-exit_code, _RESUME)
    return Problem(code=code, message=message, hint=hint, detail=detail)


def lacked_threads(log: Sequence[str]) -> bool:
    """Whether the system refused a thread to the process of that log, which aborts it."""
    return any(_NO_THREAD in line for line in log)


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
        f"continue on other devices. {_RESUME}",
    )


def gpu_lost(names: Sequence[str]) -> Problem:
    """GPUs of a run that do not answer any more, while it goes on."""
    return Problem(
        code="gpu_lost",
        field="devices.visible",
        message=f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} lost in the middle "
        "of the run: the driver reports no answer any more.",
        hint="Resume the run on other devices: it continues from its last checkpoint. "
        f"{GpuFailure(said='GPU is lost', code=LOST).advice}",
    )


def gpu_failed(names: Sequence[str], cuda_error: str, detail: str) -> Problem:
    """CUDA gave up on a GPU that the driver still reaches: one of those that a process used."""
    one = names[0] if len(names) == 1 else f"One of the GPUs ({', '.join(names)})"
    return Problem(
        code="gpu_failed",
        message=f"{one} failed in the middle of the run: CUDA said {cuda_error!r}; the driver "
        "still reaches it.",
        hint="Resume the run from its last checkpoint. If it fails again, see what the "
        "kernel's log says (dmesg | grep -i xid) and test the GPU with gpupanel selftest: an "
        "operation of the model, the driver or the card itself is at fault.",
        detail=detail,
    )


def node_lost(node: str, reason: str) -> Problem:
    """A node of a cluster does not answer any more."""
    return Problem(
        code="node_lost",
        message=f"The node {node} was lost: {reason}.",
        hint=f"See whether the machine and its raylet run. {_RESUME}",
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
        f"{_RESUME}",
    )


def cluster_waiting(reason: str) -> Problem:
    """What the run needs of the cluster is not free yet."""
    return Problem(
        code="cluster_waiting",
        severity=Severity.HINT,
        message=f"The run waits for its place in the cluster: {reason}.",
        hint="It starts as soon as that is free; stopping it works meanwhile.",
    )


def cluster_ports_open(places: Sequence[ReadyPlace]) -> Problem:
    """The problem that others can reach the ports of a run on a cluster."""
    exposed = any(is_public(each.address) for each in places)
    return Problem(
        code="cluster_ports_open",
        severity=Severity.WARNING if exposed else Severity.HINT,
        field="cluster.network",
        message="The processes of this run communicate over ports without authentication: whoever "
        "reaches them can end the run, or read and write files as you.",
        hint="Set cluster.network to one that only the nodes of the cluster reach.",
        detail=", ".join(f"{each.address}:{each.port} ({each.interface})" for each in places),
    )


def machine_slept(gap_s: float) -> Problem:
    """That the time of day has jumped, which nobody did anything about."""
    return Problem(
        code="machine_slept",
        severity=Severity.HINT,
        message=f"The machine slept for {duration(gap_s)}, or its clock was set forward by that.",
        hint="The time is left out of what the run is said to take, and of its curves.",
    )


def supervisor_used_its_time() -> Problem:
    """The supervisor itself has nearly used the processor time that a process may (``ulimit``)."""
    return Problem(
        code="processor_time_limited",
        severity=Severity.WARNING,
        message=f"{time_limit_text('The supervisor of the run')} The run was stopped before.",
        hint="Resume it from there: it continues from its last checkpoint.",
    )


def _has_used_its_time(exit_code: int, processor_s: float) -> bool:
    """Whether that was the limit of processor time (``RLIMIT_CPU`` of ``getrlimit(2)``).

    The kernel sends SIGXCPU at the soft limit and SIGKILL at the hard one; a shell sets both.
    """
    limit_s = processor_time_limit()
    if limit_s is None or -exit_code not in (signal.SIGXCPU, signal.SIGKILL):
        return False
    return exit_code == -signal.SIGXCPU or processor_s >= limit_s - _TIME_UNSEEN_S


def _most_processes() -> str:
    limit = process_count_limit()
    return "" if limit is None else f", {limit:,} (ulimit -u)"


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def _capital(name: str) -> str:
    """The name as a sentence begins with it; that of a program is the name of its file."""
    if "." in name:
        return name
    return name[:1].upper() + name[1:]
