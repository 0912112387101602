"""Where the run of the window stands, and what can be done about it."""

from dataclasses import dataclass
from enum import StrEnum

from gpupanel.domain.request import Request
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.following.status import RunStage, RunStatus


class RunState(StrEnum):
    """Where the run of this window stands, seen by the person who steers it."""

    IDLE = "idle"
    LAUNCHING = "launching"
    """Start was clicked; the run's directory is being made."""
    STARTING = "starting"
    RUNNING = "running"
    SUSPENDING = "suspending"
    """It was asked to save a checkpoint and free its devices."""
    STOPPING = "stopping"
    """It was asked to finish its step, save and end."""
    KILLING = "killing"
    """It was asked to end now, without saving."""
    ENDED = "ended"

    @property
    def is_busy(self) -> bool:
        """Whether a run is going on, so that no other may start."""
        return self not in (RunState.IDLE, RunState.ENDED)


@dataclass(frozen=True, slots=True)
class ButtonStates:
    """Which buttons can be pressed.

    Attributes:
        is_stopping: The run was asked to stop, and saves.
        is_program: What runs is a program of the person's own.
        end_now: It was asked a while ago: whether to end it without saving can be asked for.
        suspend_tip: What suspending does, or why it cannot be done now.
        start_is_unchecked: Whether TensorFlow can use the chosen GPUs is not known yet.
        is_reading: A start waits until the data is read.
    """

    start: bool
    stop: bool
    is_stopping: bool = False
    is_program: bool = False
    end_now: bool = False
    suspend: bool = False
    suspend_tip: str = ""
    start_is_unchecked: bool = False
    is_reading: bool = False


_MAY_SUSPEND = (RunState.LAUNCHING, RunState.STARTING, RunState.RUNNING)
_SUSPEND_TIPS = {
    RunState.SUSPENDING: "A checkpoint is being saved; then the devices are free",
    RunState.STOPPING: "The run is already stopping; it can be resumed later",
    RunState.KILLING: "The run is already ending",
}


_PROGRAM_SUSPENDS = (
    "Asks the program to save and to end, so that it can be resumed later; it hears that by "
    "report.should_stop (Ctrl+Shift+.)"
)


def button_states(
    run: RunState,
    preparation: Preparation,
    *,
    evaluates: bool = False,
    is_program: bool = False,
    stopped_now: bool = False,
    checking: bool = False,
    reading: bool = False,
) -> ButtonStates:
    """The enabled state of every button that steers a run.

    Args:
        run: Where the run of this window stands.
        preparation: What would happen with the profile as it is.
        evaluates: The run evaluates or predicts: it has nothing to go on from.
        is_program: The run is a program of the person's own, which saves what it wants.
        stopped_now: Stop was clicked a moment ago.
        checking: TensorFlow is being asked about the chosen GPUs. A start is possible all the
            same: the run asks it, too, and reports what it finds.
        reading: The data is being read, so that nobody knows yet what would start.
    """
    may_suspend = run in _MAY_SUSPEND and not evaluates
    tip = "Only a training can be suspended" if evaluates else "No run is in progress"
    if may_suspend:
        tip = (
            "Saves a checkpoint, ends the run's processes and frees its devices; it can be "
            "resumed later, on these devices or others (Ctrl+Shift+.)"
        )
    if may_suspend and is_program:
        tip = _PROGRAM_SUSPENDS
    return ButtonStates(
        start=not run.is_busy and preparation.is_startable and not reading,
        start_is_unchecked=checking,
        is_reading=reading,
        stop=run.is_busy and run not in (RunState.STOPPING, RunState.KILLING),
        is_stopping=run is RunState.STOPPING,
        is_program=is_program,
        end_now=run is RunState.STOPPING and not stopped_now,
        suspend=may_suspend,
        suspend_tip=_SUSPEND_TIPS.get(run, tip),
    )


def state_after(status: RunStatus, asked: Request | None) -> RunState:
    """The state of a followed run.

    Args:
        status: The sum of its events.
        asked: What was asked of it here, of several the most urgent; its event may not have come
            yet.
    """
    if status.has_ended:
        return RunState.ENDED
    if asked is Request.END:
        return RunState.KILLING
    if asked is Request.STOP or status.stage is RunStage.STOPPING:
        return RunState.STOPPING
    if asked is Request.SUSPEND or status.stage is RunStage.SUSPENDING:
        return RunState.SUSPENDING
    return RunState.STARTING if status.stage is RunStage.STARTING else RunState.RUNNING
