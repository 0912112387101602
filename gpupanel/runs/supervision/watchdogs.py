"""Three watchdogs: no first step, no step for long, no end after a stop request.

Pure decisions from what was seen; the supervisor carries them out.
"""

import enum
from dataclasses import dataclass

from gpupanel.domain.events import Phase
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.following.status import RunStage, RunStatus


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits, in seconds.

    Attributes:
        first_step_s: From the last sign of life to the first step.
        step_s: From one sign of life to the next while training: more is a hang.
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
    """

    now_s: float
    last_sign_s: float
    stop_asked_s: float | None = None
    end_asked: bool = False
    terminated_s: float | None = None


def decide(status: RunStatus, watched: Watched, patience: Patience) -> tuple[Act, Problem | None]:
    """What to do now, and the problem to report when it is a watchdog that bites.

    It is an error where it ends the run, a warning where a person asked for the end.
    """
    if watched.end_asked:
        return Act.KILL, None
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
    if status.first_step_time_s is None and silent_s > patience.first_step_s:
        return Act.TERMINATE, _no_first_step(status, silent_s)
    if status.first_step_time_s is not None and silent_s > patience.step_s:
        return Act.TERMINATE, _no_step(status, silent_s)
    return Act.NOTHING, None


def _no_end(status: RunStatus, waited_s: float) -> Problem:
    kept = "nothing of it was saved"
    if status.checkpoint is not None:
        kept = f"what it did after its checkpoint of step {status.checkpoint.step} is lost"
    return Problem(
        code="no_end",
        severity=Severity.WARNING,
        message=f"The trainer did not end within {waited_s:.0f} s of being asked to, so it was "
        f"ended; {kept}.",
        hint="It hung in a step, most likely in a collective that waits for a device: if that "
        "happens again, try another all_reduce, or one device.",
    )


def _no_first_step(status: RunStatus, silent_s: float) -> Problem:
    return Problem(
        code="no_first_step",
        message=f"The trainer made no first step: it has said nothing for {silent_s:.0f} s "
        f"while {status.phase.replace('_', ' ')}.",
        hint="Try one device and less data; gpupanel doctor shows whether TensorFlow finds "
        "its libraries.",
    )


def _no_step(status: RunStatus, silent_s: float) -> Problem:
    return Problem(
        code="no_step",
        message=f"The trainer hangs: no step for {silent_s:.0f} s after step {status.step}.",
        hint="A collective that waits for a device does this: try another all_reduce, or one "
        "device; the last checkpoint is kept.",
    )
