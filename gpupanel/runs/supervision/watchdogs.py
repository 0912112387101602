"""Watchdogs: no first step, no step for long, a GPU that is lost, no end after a stop request.

Pure decisions from what was seen; the supervisor carries them out.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpupanel.domain.events import Phase
from gpupanel.domain.gpu_failure import LOST, GpuFailure
from gpupanel.domain.number_text import duration
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.following.status import RunStage, RunStatus


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits, in seconds.

    Attributes:
        first_step_s: From the last sign of life to the first step.
        step_s: From one sign of life to the next while training: more is a hang.
        working_s: In place of either for processes that use the processor before the first step.
        compiling_s: In place of either where the driver compiles TensorFlow's kernels for a GPU,
            which takes half an hour by NVIDIA's and TensorFlow's own word, and longer on slow
            processors.
        notice_s: From the last sign of life until it is said what a first step waits for.
        lost_s: From the loss of a GPU, or the last sign of life after it, until the processes are
            killed: by themselves they may wait for it for ever. Twice the longest silence before
            where that was longer.
        unanswered_s: The same where the driver gives no answer about a GPU at all, after the first
            step, or none of the run's answers: it may be slow, or was updated, and CUDA works.
        kill_s: From SIGKILL to the end: a process that is not gone by then waits in the kernel.
        stop_s: From a request to stop or suspend to the end, before SIGTERM. Saving may take as
            long as a step, without a limit of its own.
        term_s: From SIGTERM to the end, before SIGKILL; the same.
        cause_s: From the end of a process that may have failed because of another one, for that
            one to show itself.
        abort_s: The same where a process was aborted: TensorFlow does that to those that lose a
            peer, and one that died is seen at once.
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


class Act(enum.Enum):
    """What the supervisor does to every process group of the gang."""

    NOTHING = enum.auto()
    TERMINATE = enum.auto()
    KILL = enum.auto()


@dataclass(frozen=True, slots=True)
class Watched:
    """What the watchdogs see; times are monotonic seconds.

    Attributes:
        last_sign_s: When the trainer last wrote an event.
        stop_asked_s: When a request to stop or suspend was first seen.
        end_asked: Whether a person asked to end at once.
        terminated_s: When SIGTERM was sent.
        works: Whether the trainer's processes use the processor.
        compiles_for: The names of GPUs for which the driver compiles TensorFlow's kernels.
        lost: The names of GPUs that do not answer any more.
        lost_since_s: When the first of them was seen to be lost.
        others_answer: Whether the run has other GPUs, which do.
        unanswered: Names of GPUs that the driver says nothing about, with when it last did.
        longest_silence_s: Between two signs of life of this training.
        is_wait_said: Whether it was said already what a first step waits for.
    """

    now_s: float
    last_sign_s: float
    stop_asked_s: float | None = None
    end_asked: bool = False
    terminated_s: float | None = None
    works: bool = False
    compiles_for: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    lost_since_s: float | None = None
    others_answer: bool = False
    unanswered: Mapping[str, float] = field(default_factory=dict)
    longest_silence_s: float = 0.0
    is_wait_said: bool = False


def decide(status: RunStatus, watched: Watched, patience: Patience) -> tuple[Act, Problem | None]:
    """What to do now, and the problem to report when it is a watchdog that bites.

    It is an error where it ends the run, a warning where a person asked for the end, and a hint
    where a long wait is in order.
    """
    if watched.end_asked:
        return Act.KILL, None
    lost = _waited_for_in_vain(status, watched, patience)
    if lost:
        return Act.KILL, gpu_lost(lost)
    silent_s = watched.now_s - watched.last_sign_s
    saves = status.phase is Phase.SAVING and silent_s <= patience.step_s
    if watched.terminated_s is not None:
        over = watched.now_s - watched.terminated_s > patience.term_s and not saves
        return (Act.KILL if over else Act.NOTHING), None
    if watched.stop_asked_s is not None:
        if status.stage is RunStage.STARTING:
            return Act.TERMINATE, None  # there is nothing to finish or save
        waited_s = watched.now_s - watched.stop_asked_s
        over = waited_s > patience.stop_s and not saves
        return (Act.TERMINATE, _no_end(status, waited_s)) if over else (Act.NOTHING, None)
    if status.first_step_time_s is not None:
        # Kernels that validation is the first to use are compiled then.
        is_compiling = bool(watched.compiles_for) and watched.works
        if silent_s > (patience.compiling_s if is_compiling else patience.step_s):
            return Act.TERMINATE, _no_step(status, silent_s)
        return Act.NOTHING, None
    patience_s = patience.first_step_s
    if watched.compiles_for:
        patience_s = max(patience_s, patience.compiling_s)
    elif watched.works:
        patience_s = max(patience_s, patience.working_s)
    if silent_s > patience_s:
        return Act.TERMINATE, _no_first_step(status, silent_s, works=watched.works)
    is_long = silent_s > (patience.notice_s if watched.compiles_for else patience.first_step_s)
    if is_long and not watched.is_wait_said and status.phase in _BEFORE_STEPS:
        return Act.NOTHING, _first_step_waits(status, watched, patience_s)
    return Act.NOTHING, None


_BEFORE_STEPS = frozenset({Phase.BUILDING_MODEL, Phase.TRACING, Phase.MEASURING, Phase.TRAINING})
"""In which kernels are used for the first time."""


_SAVING = 5.0


def _waited_for_in_vain(status: RunStatus, watched: Watched, patience: Patience) -> tuple[str, ...]:
    """The names of GPUs that do not answer, where the run has come to a standstill since."""

    def is_over(since_s: float, patience_s: float) -> bool:
        unheard_s = watched.now_s - max(since_s, watched.last_sign_s)
        # Nothing is reported while a checkpoint is written.
        patience_s *= _SAVING if status.phase is Phase.SAVING else 1.0
        return unheard_s > max(patience_s, 2.0 * watched.longest_silence_s)

    patience_s = patience.lost_s if watched.others_answer else patience.unanswered_s
    if watched.lost_since_s is not None and is_over(watched.lost_since_s, patience_s):
        return watched.lost
    if status.first_step_time_s is None:
        return ()
    silent = watched.unanswered.items()
    return tuple(name for name, said_s in silent if is_over(said_s, patience.unanswered_s))


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


def _first_step_waits(status: RunStatus, watched: Watched, patience_s: float) -> Problem:
    up_to = f"The run waits for up to {patience_s / 3_600.0:.3g} hours"
    if watched.compiles_for:
        names = " and ".join(watched.compiles_for)
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


def machine_slept(gap_s: float) -> Problem:
    """That the time of day has jumped, which nobody did anything about."""
    return Problem(
        code="machine_slept",
        severity=Severity.HINT,
        message=f"The machine slept for {duration(gap_s)}, or its clock was set forward by that.",
        hint="The time is left out of what the run is said to take, and of its curves.",
    )
