"""One run that waits, goes on or has ended, as the queue knows it."""

from enum import StrEnum
from pathlib import Path

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class EntryState(StrEnum):
    """The state of an entry."""

    WAITING = "waiting"
    RUNNING = "running"
    """The entry's run is running or being started: nobody else may start it."""
    ENDED = "ended"
    REFUSED = "refused"
    """It could not be started; edited, it waits again."""


class QueueEntry(Value):
    """One entry of the queue; its profile is a file of its own, named by ``id``.

    Attributes:
        id: Eight hexadecimal digits.
        name: The profile's.
        runs_dir: The folder under which its run is made.
        added_s: Seconds since the epoch (UTC).
        revision: How often the profile was edited since.
        devices: Names of the devices that it needs; empty until it was first planned.
        waits: Why it waits, a sentence; empty when it is not known yet.
        run: The directory of its run.
        is_filled: All that the run needs stands in that directory. Before that, no supervisor was
            ever started for it; after that, one may have been.
        started_s: When its run was made.
        outcome: How the run ended.
        problems: Why it was refused, or what ended its run.
        suspend_after_epoch: The run is suspended when this epoch has ended, counted from 1.
        continues_from: The entry continues the suspended run in ``run``, whose events had so many
            bytes when it was added: more of them say that somebody has continued it since.
        hours_ended_s: When the hours of its run ended, seconds since the epoch (UTC): once the run
            is suspended the entry waits again; ``None``: they have not.
        begin_s: Waiting: when its hours begin, likewise; ``None``: it does not wait for them.
        cuda_variables: Of the shell from which it was added, which the scheduler's is not: what
            its profile means where that names no device. ``None``: they have no say.
    """

    id: str
    name: str
    runs_dir: Path
    added_s: float
    state: EntryState = EntryState.WAITING
    revision: int = 0
    devices: tuple[str, ...] = ()
    waits: str = ""
    run: Path | None = None
    is_filled: bool = False
    started_s: float | None = None
    outcome: Outcome | None = None
    problems: tuple[Problem, ...] = ()
    suspend_after_epoch: int | None = None
    continues_from: int | None = None
    hours_ended_s: float | None = None
    begin_s: float | None = None
    cuda_variables: CudaVariables | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be started."""
        return self.state is EntryState.WAITING

    @property
    def is_running(self) -> bool:
        """Whether its run goes on or is being started."""
        return self.state is EntryState.RUNNING

    @property
    def is_suspended(self) -> bool:
        """Whether it waits to continue a run that was suspended."""
        return self.is_waiting and self.continues_from is not None

    @property
    def can_be_edited(self) -> bool:
        """Whether its profile may still be changed."""
        return self.state in (EntryState.WAITING, EntryState.REFUSED)
