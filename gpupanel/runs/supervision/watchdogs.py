"""Watchdogs: no first step, no step for long, a GPU that is lost, no end after a stop request.

Pure decisions from what was seen; :mod:`gang_end` carries them out.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpupanel.domain.events import Phase
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.supervision.problems import gpu_lost


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits, in seconds.

    Attributes:
        first_step_s: From the last event of a process to the first step.
        step_s: From one event to the next while training: more is a hang.
        working_s: In place of either for processes that use the processor before the first step.
        compiling_s: In place of either where the driver compiles TensorFlow's kernels for a GPU,
            which takes half an hour according to NVIDIA and TensorFlow, and longer on slow
            processors.
        notice_s: From the last event until it is reported what a first step waits for.
        lost_s: From the loss of a GPU, or the last event after it, until the processes are killed:
            by themselves they may wait for it for ever. Twice the longest silence before where
            that was longer.
        unanswered_s: In place of that where the driver gives no answer about a GPU at all, after
            the first step, or none of the run's answers: it may be slow, or was updated, and CUDA
            works.
        kill_s: From SIGKILL to the end: a process that is not gone by then waits in the kernel.
        stop_s: From a request to stop or suspend to the end, before SIGTERM. Saving may take as
            long as a step, without a limit of its own.
        term_s: From SIGTERM to the end, before SIGKILL; saving has no limit here, either.
        cause_s: From the end of a process that may have failed because of another one, for that
            one to show itself.
        abort_s: In place of that where a process was aborted: TensorFlow does that to those that
            lose a peer, and one that died is seen at once.
    """

    first_step_s: float = 900.0
    step_s: float = 900.0
    working_s: float = 3_600.0
    compiling_s: float = 14_400.0
    notice_s: float = 120.0
    lost_s: float = 15.0
    unanswered_s: float = 60.0
    kill_s: float = 5.0
    stop_s: float = 60.0
    term_s: float = 10.0
    cause_s: float = 5.0
    abort_s: float = 0.8


class Action(enum.Enum):
    """What the supervisor does to every process group of the gang."""

    NOTHING = enum.auto()
    TERMINATE = enum.auto()
    KILL = enum.auto()


@dataclass(frozen=True, slots=True)
class Observation:
    """What the watchdogs see; times are monotonic seconds.

    Attributes:
        last_event_s: When the trainer last wrote an event.
        stop_requested_s: When a request to stop or suspend was first seen.
        end_requested: Whether a person asked to end at once.
        terminated_s: When SIGTERM was sent.
        uses_processor: Whether the trainer's processes use the processor.
        compiles_for: The names of GPUs for which the driver compiles TensorFlow's kernels.
        lost: The names of GPUs that do not answer any more.
        lost_since_s: When the first of them was seen to be lost.
        others_answer: Whether the run has other GPUs, which do.
        unanswered: Names of GPUs that the driver says nothing about, with when it last did.
        longest_silence_s: Between two events of this training.
        has_reported_wait: Whether it was reported already what a first step waits for.
        runs_program: Whether the run is a person's own program, which has something to save from
            its first line on, whether or not the event of its start was read by now.
    """

    now_s: float
    last_event_s: float
    stop_requested_s: float | None = None
    end_requested: bool = False
    terminated_s: float | None = None
    uses_processor: bool = False
    compiles_for: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    lost_since_s: float | None = None
    others_answer: bool = False
    unanswered: Mapping[str, float] = field(default_factory=dict)
    longest_silence_s: float = 0.0
    has_reported_wait: bool = False
    runs_program: bool = False


def decide(
    status: RunStatus, seen: Observation, patience: Patience
) -> tuple[Action, Problem | None]:
    """What to do now, and the problem to report where it is a watchdog that decides so.

    The problem is an error where it ends the run, a warning where a person asked for the end, and
    a hint where a long wait is in order.
    """
    if seen.end_requested:
        return Action.KILL, None
    lost = _waited_for_in_vain(status, seen, patience)
    if lost:
        return Action.KILL, gpu_lost(lost)
    silent_s = seen.now_s - seen.last_event_s
    saves = status.phase is Phase.SAVING and silent_s <= patience.step_s
    if seen.terminated_s is not None:
        over = seen.now_s - seen.terminated_s > patience.term_s and not saves
        return (Action.KILL if over else Action.NOTHING), None
    if seen.stop_requested_s is not None:
        if status.stage is RunStage.STARTING and not seen.runs_program:
            return Action.TERMINATE, None  # there is nothing to finish or save
        waited_s = seen.now_s - seen.stop_requested_s
        over = waited_s > patience.stop_s and not saves
        return (Action.TERMINATE, _no_end(status, waited_s)) if over else (Action.NOTHING, None)
    if status.first_step_time_s is not None:
        # Kernels that validation is the first to use are compiled then.
        is_compiling = bool(seen.compiles_for) and seen.uses_processor
        if silent_s > (patience.compiling_s if is_compiling else patience.step_s):
            return Action.TERMINATE, _no_step(status, silent_s)
        return Action.NOTHING, None
    patience_s = patience.first_step_s
    if seen.compiles_for:
        patience_s = max(patience_s, patience.compiling_s)
    elif seen.uses_processor:
        patience_s = max(patience_s, patience.working_s)
    if silent_s > patience_s:
        return Action.TERMINATE, _no_first_step(status, silent_s, works=seen.uses_processor)
    is_long = silent_s > (patience.notice_s if seen.compiles_for else patience.first_step_s)
    if is_long and not seen.has_reported_wait and status.phase in _BEFORE_STEPS:
        return Action.NOTHING, _first_step_waits(status, seen, patience_s)
    return Action.NOTHING, None


_BEFORE_STEPS = frozenset({Phase.BUILDING_MODEL, Phase.TRACING, Phase.MEASURING, Phase.TRAINING})
"""The phases in which kernels are used for the first time."""

_SAVING_FACTOR = 5.0
"""So many times as long a GPU is waited for while a checkpoint is written: nothing is reported."""


def _waited_for_in_vain(
    status: RunStatus, seen: Observation, patience: Patience
) -> tuple[str, ...]:
    """The names of GPUs that do not answer, where the run has come to a standstill since."""

    def is_over(since_s: float, patience_s: float) -> bool:
        silent_s = seen.now_s - max(since_s, seen.last_event_s)
        patience_s *= _SAVING_FACTOR if status.phase is Phase.SAVING else 1.0
        return silent_s > max(patience_s, 2.0 * seen.longest_silence_s)

    patience_s = patience.lost_s if seen.others_answer else patience.unanswered_s
    if seen.lost_since_s is not None and is_over(seen.lost_since_s, patience_s):
        return seen.lost
    if status.first_step_time_s is None:
        return ()
    silent = seen.unanswered.items()
    return tuple(name for name, said_s in silent if is_over(said_s, patience.unanswered_s))


def _first_step_waits(status: RunStatus, seen: Observation, patience_s: float) -> Problem:
    up_to = f"The run waits for up to {patience_s / 3_600.0:.3g} hours"
    if seen.compiles_for:
        names = " and ".join(seen.compiles_for)
        message = (
            f"No step yet: TensorFlow has no machine code for {names}, so the driver compiles its "
            "kernels now."
        )
        hint = f"{up_to}. The next start takes what was compiled, if CUDA_CACHE_MAXSIZE allows it."
    else:
        message = (
            f"No step yet while {status.phase.replace('_', ' ')}, but the processor is at work: "
            "something large is compiled or prepared, or processes wait for each other."
        )
        hint = (
            f"{up_to}. Where several GPUs are to sum for the first time, test them: the "
            "self-test finds sums that never end."
        )
    return Problem(code="first_step_takes_long", severity=Severity.HINT, message=message, hint=hint)


def _no_end(status: RunStatus, waited_s: float) -> Problem:
    if status.program:
        return Problem(
            code="no_end",
            severity=Severity.WARNING,
            message=f"{status.program} did not end within {waited_s:.0f} s of being interrupted as "
            "Ctrl+C does, so it was ended.",
            hint="What it had not saved by itself is lost. A program that catches "
            "KeyboardInterrupt is to end then.",
        )
    kept = "nothing of it was saved"
    if status.checkpoint is not None:
        kept = f"what it did after its checkpoint of step {status.checkpoint.step:,} is lost"
    return Problem(
        code="no_end",
        severity=Severity.WARNING,
        message=f"The trainer did not end within {waited_s:.0f} s of being asked to, so it was "
        f"ended; {kept}.",
        hint="It hung in a step, most likely in a collective that waits for a device: if that "
        "happens again, try another all_reduce, or one device.",
    )


def _no_first_step(status: RunStatus, silent_s: float, *, works: bool) -> Problem:
    return Problem(
        code="no_first_step",
        message=f"The trainer made no first step: it has said nothing for {silent_s:.0f} s "
        f"while {status.phase.replace('_', ' ')}.",
        hint="It used no processor, so it waited for something: a disk, the driver or another "
        "process. The last lines of its log say what it did last; gpupanel doctor checks the "
        "driver and TensorFlow's libraries."
        if not works
        else "It was at work, or waited at a busy loop as NCCL does: gpupanel selftest finds GPUs "
        "whose sums never end, gpupanel doctor checks the driver and TensorFlow's libraries.",
    )


def _no_step(status: RunStatus, silent_s: float) -> Problem:
    return Problem(
        code="no_step",
        message=f"The trainer hangs: no step for {silent_s:.0f} s after step {status.step:,}.",
        hint="A collective that waits for a device does this: try another all_reduce, or one "
        "device; the last checkpoint is kept.",
    )
