"""What a run holds of its GPUs' memory while it goes on, and whether that is back afterwards."""

import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import Final

import psutil

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import Event, MemoryReturned, RunRestarted, TrainerStarted
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, TelemetrySample

LIMIT_S: Final = 5.0
"""The longest time that a run's end waits for its memory."""
SILENCE_S: Final = 2.0
"""As long as that at most for a driver that does not answer any more."""

_NOISE_MIB: Final = 128
"""What a desktop takes and gives back at any time."""
_WINDOW: Final = 10
"""So many readings before the end count: the last ones may be from when the memory was back."""
_STEADY: Final = 10
"""So many readings must agree until memory that fell is taken to have come to rest."""
_STEADY_MIB: Final = 16
_SAME_READING_S: Final = 0.05
"""Two readings are further apart; ages are in hundredths of a second."""
_TOLERANCE: Final = 0.05
"""The part of what was held that may be missing from the fall: others take and give meanwhile."""

_Identity = tuple[int, float | None]


class HeldMemory:
    """What the run holds of one GPU, reading by reading.

    The run's own processes show what it holds where NVML lists them. In another pid namespace it
    does not; then it is by how much the used memory rose, and back when that fell again. What other
    processes have taken since the run ended, such as those of the next one, counts for neither.

    Attributes:
        answered_s: When the GPU was last read since the run ended, as :func:`time.monotonic` has
            it.
        is_settled: The memory is back, or the GPU does not report it any more.
    """

    def __init__(self, key: str) -> None:
        self.answered_s: float | None = None
        self.is_settled = False
        self._key = key
        self._used_at_first: int | None = None
        self._used: deque[int] = deque(maxlen=_WINDOW)
        self._listed: dict[int, int | None] = {}
        self._after: deque[int] = deque(maxlen=_STEADY)
        self._beside: dict[_Identity, int | None] = {}
        self._last: DeviceReading | None = None
        self._left: tuple[DeviceProcess, ...] = ()
        self._other_processes: tuple[DeviceProcess, ...] = ()
        self._other_processes_mib: int | None = None

    @property
    def other_processes(self) -> tuple[DeviceProcess, ...]:
        """Who else held memory of it when it was last read while the run went on."""
        return self._other_processes

    @property
    def other_processes_mib(self) -> int | None:
        """How much was not the run's then; ``None`` where the GPU does not report it."""
        return self._other_processes_mib if self._listed else self._used_at_first

    @property
    def held_mib(self) -> int:
        """What the run holds of it, or held when it ended; 0 where it holds nothing."""
        listed = sum(mib or 0 for mib in self._listed.values())
        if listed or self._used_at_first is None or not self._used:
            return listed
        risen = max(self._used) - self._used_at_first
        return risen if risen > _NOISE_MIB else 0

    def forget(self) -> None:
        """Forget what was held: the run is started again."""
        self._listed.clear()
        self._used.clear()

    def take(self, reading: DeviceReading, ours: tuple[DeviceProcess, ...]) -> None:
        """Take in a reading from during the run; ``ours`` are the run's processes in it."""
        if reading.memory_used_mib is not None:
            self._used.append(reading.memory_used_mib)
            if self._used_at_first is None:
                self._used_at_first = reading.memory_used_mib
            mine = sum(process.memory_used_mib or 0 for process in ours)
            self._other_processes_mib = max(0, reading.memory_used_mib - mine)
        self._listed |= {process.pid: process.memory_used_mib for process in ours}
        others = _greatest_first(process for process in reading.processes if process not in ours)
        self._other_processes = tuple(others)
        self._beside = {_identity(process): process.memory_used_mib for process in others}

    def take_after(
        self, reading: DeviceReading, ours: tuple[DeviceProcess, ...], read_s: float
    ) -> None:
        """Take in a reading from after the run's end, and when the GPU was read."""
        if self.answered_s is not None and read_s - self.answered_s < _SAME_READING_S:
            return  # repeated while a slow driver is waited for
        is_lost = reading.state is DeviceState.LOST
        if not is_lost and reading.memory_used_mib is None and self._used:
            return  # it reported that before: it was not reached this time
        self.answered_s = read_s
        self._last, self._left = reading, ours
        if reading.memory_used_mib is not None:
            self._after.append(reading.memory_used_mib)
        self.is_settled = is_lost or self._is_back(reading)

    def returned(self) -> ReturnedMemory | None:
        """What became of it; ``None`` where nothing was held, or the GPU does not report it."""
        last, held = self._last, self.held_mib
        if not held or last is None or last.state is DeviceState.LOST:
            return None
        fell = self._fell_mib(last)
        if fell is None and not self._listed:
            return None
        if self.is_settled:
            freed = held if self._listed or fell is None else fell
            if freed <= 0:
                return None  # somebody else has taken memory, and how much is not known
            return ReturnedMemory(device_key=self._key, freed_mib=freed)
        left = sum(process.memory_used_mib or 0 for process in self._left)
        freed = held - left if fell is None else max(0, min(fell, held - left))
        # Where the run's processes are known, no other one holds memory of it; else one that was
        # there before its end may be its own, in another pid namespace.
        others = () if self._listed else last.processes
        suspects = (process for process in others if _identity(process) in self._beside)
        return ReturnedMemory(
            device_key=self._key,
            freed_mib=freed,
            still_held_mib=held - freed,
            holders=(*_greatest_first(self._left), *_greatest_first(suspects)),
        )

    def _is_back(self, reading: DeviceReading) -> bool:
        fell, taken = self._fell_mib(reading), self._taken_since(reading)
        if self._listed:
            enough = self.held_mib - max(_NOISE_MIB, _TOLERANCE * self.held_mib)
            # Where others hold who knows how much, it is known that the run's own hold none.
            return not self._left and (fell is None or taken is None or fell >= enough)
        if fell is None or self._used_at_first is None or reading.memory_used_mib is None:
            return True  # nothing is left that could show it
        if reading.memory_used_mib <= self._used_at_first + _NOISE_MIB + (taken or 0):
            return True
        # Somebody else may hold more than when the run began.
        rests = len(self._after) == _STEADY and max(self._after) - min(self._after) <= _STEADY_MIB
        return rests and (fell > _NOISE_MIB or taken is None)

    def _fell_mib(self, reading: DeviceReading) -> int | None:
        """By how much what is used fell, without what others have taken meanwhile."""
        if reading.memory_used_mib is None or not self._used:
            return None
        return max(self._used) - reading.memory_used_mib + (self._taken_since(reading) or 0)

    def _taken_since(self, reading: DeviceReading) -> int | None:
        """What other processes have taken since the run ended; ``None``: one may not be asked."""
        taken = 0
        for process in reading.processes:
            if process in self._left:
                continue
            before = self._beside.get(_identity(process), 0)
            if process.memory_used_mib is None or before is None:
                if _identity(process) not in self._beside:
                    return None
                continue
            taken += max(0, process.memory_used_mib - before)
        return taken


class GpuMemoryWatch:
    """Knows what a run holds of its GPUs, and waits until that is back.

    Samples come in from the thread that takes them; whoever waits never asks a driver itself. What
    was read before the end and what after it is known by a clock that nobody sets.

    Attributes:
        sample: The last one from before the end; ``None``: none was taken.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self._held = {
            device.key: HeldMemory(device.key)
            for device in plan.devices
            if device.kind is DeviceKind.GPU
        }
        self._pids: set[int] = set()
        self._is_ours: dict[tuple[int, float | None], bool] = {}
        self._changed = threading.Condition()
        self._ended_s: float | None = None
        self.sample: TelemetrySample | None = None

    def notice(self, event: Event) -> None:
        """Take in what the supervisor reports of the run's processes."""
        with self._changed:
            if isinstance(event, TrainerStarted):
                self._pids.add(event.pid)
            elif isinstance(event, RunRestarted):
                for held in self._held.values():
                    held.forget()

    def take(self, sample: TelemetrySample, begun_s: float) -> None:
        """Take in a sample.

        Args:
            sample: What the devices reported.
            begun_s: When they were first asked for it, as :func:`time.monotonic` has it.
        """
        now_s = time.monotonic()
        with self._changed:
            self.sample = sample if self._ended_s is None else self.sample
            for key, held in self._held.items():
                reading = sample.reading(key)
                if reading is not None:
                    self._account(held, reading, now_s, begun_s)
            self._changed.notify_all()

    def of_other_processes(self, key: str) -> tuple[int | None, tuple[DeviceProcess, ...]]:
        """What other processes hold of a GPU, in MiB (``None``: not known), and who they are."""
        with self._changed:
            held = self._held.get(key)
            return (None, ()) if held is None else (held.other_processes_mib, held.other_processes)

    def is_of_the_run(self, process: DeviceProcess) -> bool:
        """Whether a process on a GPU is one of the run's."""
        with self._changed:
            return self._is_of_the_run(process)

    def run_ended(self) -> bool:
        """Note that the last process has ended; whether there is memory to wait for."""
        with self._changed:
            self._ended_s = time.monotonic()
            return any(held.held_mib for held in self._held.values())

    def wait(self) -> MemoryReturned | None:
        """Wait until the memory is back, after :meth:`run_ended`.

        Returns:
            What became of it; ``None`` when nothing is known.
        """
        begun_s = time.monotonic()
        with self._changed:
            waited = [held for held in self._held.values() if held.held_mib]
            while (left_s := self._patience(waited, begun_s + LIMIT_S)) > 0.0:
                self._changed.wait(left_s)
            seconds = time.monotonic() - begun_s
            known = [held for held in waited if held.is_settled or self._may_answer_s(held) > 0.0]
            returned = tuple(each for held in known if (each := held.returned()) is not None)
        if not returned:
            return None
        return MemoryReturned(time_s=time.time(), seconds=round(seconds, 3), devices=returned)

    def _patience(self, waited: list[HeldMemory], until_s: float) -> float:
        """How much longer to wait, in seconds."""
        missing = [held for held in waited if not held.is_settled]
        if not missing:
            return 0.0
        left_s = until_s - time.monotonic()
        return min(left_s, max(self._may_answer_s(held) for held in missing))

    def _may_answer_s(self, held: HeldMemory) -> float:
        """How much longer the GPU may be silent, in seconds; below 0 where its reading is old."""
        answered_s = held.answered_s or self._ended_s or 0.0
        return answered_s + SILENCE_S - time.monotonic()

    def _account(
        self, held: HeldMemory, reading: DeviceReading, now_s: float, begun_s: float
    ) -> None:
        ours = tuple(process for process in reading.processes if self._is_of_the_run(process))
        # A slow driver answers late, and what is repeated for it may be from before the end.
        read_s = now_s - reading.age_s if reading.age_s else begun_s
        if self._ended_s is None:
            held.take(reading, ours)
        elif read_s >= self._ended_s:
            held.take_after(reading, ours, read_s)

    def _is_of_the_run(self, process: DeviceProcess) -> bool:
        identity = (process.pid, process.started_s)
        if identity not in self._is_ours:
            self._is_ours[identity] = self._descends(process.pid)
        return self._is_ours[identity]

    def _descends(self, pid: int) -> bool:
        """Whether it is one of the run's processes, or was started by one."""
        if pid in self._pids:
            return True
        try:
            if os.getpgid(pid) in self._pids:
                return True
            return any(parent.pid in self._pids for parent in psutil.Process(pid).parents())
        except (OSError, psutil.Error):
            return False  # it ended meanwhile, or is in another pid namespace


def _identity(process: DeviceProcess) -> _Identity:
    """The start time is part of it: the system gives a pid out again."""
    return process.pid, process.started_s


def _greatest_first(processes: Iterable[DeviceProcess]) -> list[DeviceProcess]:
    return sorted(processes, key=lambda process: -(process.memory_used_mib or 0))
