"""Whether a process still lives, by its heartbeat, its work and its state."""

import enum
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import psutil

from gpupanel.files.guarded_files import status

FROZEN_AFTER_S = 8.0
"""A process beats once a second: so long without a beat and without work is no delay any more."""

TASK_FROZEN_AFTER_S = 120.0
"""The same of a task on another node, whose work is not seen, and its heartbeat by a shared disk:
one that imports TensorFlow there may be silent for long."""

STOPPED_S = 4.0
"""A stop that is taken back at once is forgiven."""


_USE_S = 30.0
_MUCH_USE = 0.2
"""Fraction of one core: a waiting process uses a hundredth, a compiler all of it."""


class Frozen(enum.Enum):
    """Why a process is taken for dead though it is there."""

    STOPPED = enum.auto()
    """The system says that it is stopped (SIGSTOP)."""
    SILENT = enum.auto()
    """The process has no heartbeat and uses no processor time."""
    NEVER_BEGAN = enum.auto()
    """It has not come to its first heartbeat and uses no processor."""
    ENDLESS = enum.auto()
    """TensorFlow asks a full GPU for memory without end."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What one observation of a process shows.

    Attributes:
        beat: When the heartbeat file was last touched; ``None``: it is not there.
        processor_s: Seconds of processor that the process has used.
        is_stopped: By SIGSTOP.
        is_held: By a disk that does not answer, or by a debugger.
    """

    beat: float | None
    processor_s: float
    is_stopped: bool = False
    is_held: bool = False


class Liveness:
    """Remembers when one process last showed a sign of life.

    A process that imports TensorFlow on a busy machine may keep its heartbeat thread waiting for
    long, but it works; one that waits for other processes or sleeps does not work, but its heart
    beats. Only where both have ceased is nobody there. Times are those of the observer: the clocks
    of files are only compared with themselves.

    Args:
        now_s: By the observer's clock.
        frozen_after_s: So long without a beat and without work.
    """

    def __init__(self, now_s: float, frozen_after_s: float = FROZEN_AFTER_S) -> None:
        self._frozen_after_s = frozen_after_s
        self._last: Activity | None = None
        self._alive_s = now_s
        self._observed_s = now_s
        self._stopped_since_s: float | None = None

    def observe(self, activity: Activity, now_s: float) -> Frozen | None:
        """Take in one observation; gives why the process is to be taken for dead, if it is."""
        last, self._last = self._last, activity
        # The observer may have been stopped itself: what it did not see does not count.
        was_away = now_s - self._observed_s > STOPPED_S
        self._observed_s = now_s
        if last is None or was_away or activity.is_held or _moved(last, activity):
            self._alive_s = now_s
        if not activity.is_stopped or was_away:
            self._stopped_since_s = None
        elif self._stopped_since_s is None:
            self._stopped_since_s = now_s
        if self._stopped_since_s is not None and now_s - self._stopped_since_s >= STOPPED_S:
            return Frozen.STOPPED
        if now_s - self._alive_s < self._frozen_after_s:
            return None
        return Frozen.NEVER_BEGAN if activity.beat is None else Frozen.SILENT


def _moved(last: Activity, now: Activity) -> bool:
    return last.beat != now.beat or now.processor_s > last.processor_s


def process_activity(process: psutil.Process, heartbeat: Path) -> Activity | None:
    """How a process is now; ``None`` when it has just gone."""
    try:
        found = status(heartbeat, heartbeat.parent.parent)
    except OSError:
        found = None
    beat = None if found is None else found.st_mtime
    try:
        with process.oneshot():
            times, state = process.cpu_times(), process.status()
    except psutil.Error:
        return None
    return Activity(
        beat=beat,
        processor_s=times.user + times.system,
        is_stopped=state == psutil.STATUS_STOPPED,
        is_held=state in (psutil.STATUS_DISK_SLEEP, psutil.STATUS_TRACING_STOP),
    )


class ProcessorUse:
    """Whether processes have used the processor over the last half a minute."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def observe(self, now_s: float, processor_s: float) -> None:
        """Take in the seconds of processor that they have used until now."""
        if not self._seen or now_s - self._seen[-1][0] >= 1.0:
            self._seen.append((now_s, processor_s))
        while now_s - self._seen[0][0] > _USE_S:
            self._seen.popleft()

    @property
    def is_much(self) -> bool:
        """Whether that is more than a heartbeat and waiting take."""
        (first_s, at_first), (last_s, at_last) = self._seen[0], self._seen[-1]
        return at_last - at_first > _MUCH_USE * max(last_s - first_s, 1.0)


def waits_in_kernel(pid: int) -> bool:
    """Whether the system says of a process that it waits where no signal reaches it (state D)."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_DISK_SLEEP
    except psutil.Error:
        return False
