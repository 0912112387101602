"""Whether it was memory that a process lacked: by its own report, by the kernel, by its log.

A process that was killed for lack of the host's memory reports nothing: the kernel counts such
kills. Of one that crashed because memory was refused only the end of its log says so.
"""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.plan import LaunchPlan
from gpupanel.files.process_limits import address_space_limit
from gpupanel.runs.directory.log_since import LogSince
from gpupanel.runs.supervision.memory.reading import KernelCounters, shortage_in_log

_CRASHES: Final = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
_LOG_BYTES: Final = 2**20
_INTERVAL_S: Final = 0.9
_GROUP_S: Final = 5.0
"""How often to ask in which control group a process is: it hardly ever moves."""
_SETTLING_S: Final = 15.0
"""But after its start, in which a command around it puts it into one."""
_WINDOW_S: Final = 10.0
"""A process with much memory takes seconds to die after the kernel has counted it as killed; what
was counted longer ago was another one."""
_NEARLY_FULL: Final = 0.05
"""Less of the machine's memory to be had than this part."""
_LEAST_LEFT: Final = 256 * 2**20
"""Bytes of address space: glibc reserves 128 MiB at once for a thread that allocates (arena.c)."""


@dataclass(frozen=True, slots=True)
class _Observation:
    time_s: float
    machine_kills: int | None
    group_kills: Mapping[Path, int | None]
    is_nearly_full: bool


@dataclass(frozen=True, slots=True)
class _FoundGroup:
    """The control group of a process that is seen since ``since_s``, asked for at ``asked_s``."""

    pid: int
    since_s: float
    asked_s: float
    group: Path | None


class HostMemoryWatch:
    """Watches the host's memory beside a run, so that a kill for lack of it is known.

    It observes about once a second, which costs a few reads of the kernel's files each time.

    Args:
        counters: Reads what the kernel counts.
        clock: Seconds that only grow.
        address_space_limit: The most bytes of address space that each process may take.
    """

    def __init__(
        self,
        counters: KernelCounters | None = None,
        clock: Callable[[], float] = time.monotonic,
        address_space_limit: int | None = None,
    ) -> None:
        self._counters = counters or KernelCounters()
        self._clock = clock
        self._limit = address_space_limit
        self._address_space: dict[int, int] = {}
        self._groups: dict[int, Path] = {}
        self._found: dict[int, _FoundGroup] = {}
        self._held: dict[int, int] = {}
        self._observations: deque[_Observation] = deque()

    def observe(self, processes: Iterable[tuple[int, int]]) -> None:
        """Observe the processes of the run that are there: place and pid of each."""
        now_s = self._clock()
        if self._observations and now_s - self._observations[-1].time_s < _INTERVAL_S:
            return
        for place, pid in processes:
            # Of a process that has just died both are gone: what was seen last stays.
            group, held = self._group(place, pid, now_s), self._counters.held_by(pid)
            if group is not None and held:
                self._groups[place], self._held[place] = group, held
            if self._limit is not None and (taken := self._counters.address_space_of(pid)):
                self._address_space[place] = taken
        self._observations.append(self._seen(now_s))
        while len(self._observations) > 1 and now_s - self._observations[1].time_s >= _WINDOW_S:
            self._observations.popleft()

    def _group(self, place: int, pid: int, now_s: float) -> Path | None:
        found = self._found.get(place)
        since_s = found.since_s if found is not None and found.pid == pid else now_s
        if (
            found is None
            or found.pid != pid
            or found.group is None
            or now_s - since_s < _SETTLING_S
            or now_s - found.asked_s >= _GROUP_S
        ):
            found = _FoundGroup(pid, since_s, now_s, self._counters.group_of(pid))
            self._found[place] = found
        return found.group

    def kill_of(self, place: int) -> MemoryExhausted | None:
        """What is known of the memory of a process that was killed; ``None``: it had enough."""
        now = self._seen(self._clock())
        group = self._groups.get(place)
        cause = self._cause(now, group)
        if cause is None:
            return None
        return MemoryExhausted(
            time_s=time.time(),
            process=place,
            cause=cause,
            device_key=CPU_KEY,
            limit_bytes=None if group is None else self._counters.limit_of(group),
            held_bytes=self._held.get(place),
        )

    def crash_of(self, place: int) -> MemoryExhausted | None:
        """What is known of the address space of a process that crashed; ``None``: it had enough."""
        taken = self._address_space.get(place, 0)
        if self._limit is None or taken + _LEAST_LEFT < self._limit:
            return None
        return MemoryExhausted(
            time_s=time.time(),
            process=place,
            cause=ShortageCause.ADDRESS_SPACE,
            device_key=CPU_KEY,
            limit_bytes=self._limit,
            held_bytes=taken,
        )

    def _cause(self, now: _Observation, group: Path | None) -> ShortageCause | None:
        observations = [*self._observations, now]
        was_nearly_full = any(each.is_nearly_full for each in observations)
        if group is not None and _rose([each.group_kills.get(group) for each in observations]):
            limited = self._counters.limit_of(group) is not None and not was_nearly_full
            return ShortageCause.GROUP_LIMIT if limited else ShortageCause.MACHINE
        if _rose([each.machine_kills for each in observations]):
            return ShortageCause.MACHINE
        return ShortageCause.LIKELY if was_nearly_full else None

    def _seen(self, now_s: float) -> _Observation:
        memory = self._counters.available()
        return _Observation(
            time_s=now_s,
            machine_kills=self._counters.kills_on_machine(),
            group_kills={
                group: self._counters.kills_in(group) for group in {*self._groups.values()}
            },
            is_nearly_full=memory is not None and memory[0] < _NEARLY_FULL * memory[1],
        )


class ShortageWatch:
    """Finds out whether it was memory that a process of a gang lacked.

    Args:
        plan: Its gang says which processes there are.
        logs: Of each of them, from where this attempt of the run begins.
    """

    def __init__(self, plan: LaunchPlan, logs: Sequence[LogSince]) -> None:
        self._plan = plan
        self._logs = logs
        self._host_memory = HostMemoryWatch(address_space_limit=address_space_limit())
        self._reported: dict[int, MemoryExhausted] = {}

    def observe(self, processes: Iterable[tuple[int, int]]) -> None:
        """Observe the host's memory and the processes that are there: place and pid of each."""
        self._host_memory.observe(processes)

    def take(self, event: MemoryExhausted) -> None:
        """Take in what a process reported itself."""
        self._reported[event.process] = event

    def reported_by(self, place: int) -> MemoryExhausted | None:
        """What a process reported itself."""
        return self._reported.get(place)

    def behind_death_of(self, place: int, exit_code: int | None) -> MemoryExhausted | None:
        """What a process lacked that could not report it any more; ``None``: it had enough."""
        if exit_code == -signal.SIGKILL:
            return self._host_memory.kill_of(place)
        if exit_code not in _CRASHES:
            return None
        lines = self._logs[place].last_lines(_LOG_BYTES)
        found = shortage_in_log(lines, place, self._plan.gang[place])
        return found or self._host_memory.crash_of(place)


def _rose(counts: list[int | None]) -> bool:
    known = [count for count in counts if count is not None]
    return bool(known) and known[-1] > known[0]
