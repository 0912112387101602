"""What a run holds of one GPU while it goes on, and what becomes of it afterwards."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState

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
    """The account of one GPU.

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
        """What was held is over: the run is started again."""
        self._listed.clear()
        self._used.clear()

    def take(self, reading: DeviceReading, ours: tuple[DeviceProcess, ...]) -> None:
        """Take in a reading of while the run goes on; ``ours`` are the run's processes in it."""
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
        """Take in a reading of after the run's end, and when the GPU was read."""
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


def _identity(process: DeviceProcess) -> _Identity:
    """A number of a process may be given out again."""
    return process.pid, process.started_s


def _greatest_first(processes: Iterable[DeviceProcess]) -> list[DeviceProcess]:
    return sorted(processes, key=lambda process: -(process.memory_used_mib or 0))
