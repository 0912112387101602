"""Observes the load of the host beside a run: other programs, swap, a quota of processor time.

From ``Documentation/filesystems/proc.rst`` of Linux (``/proc/stat``, ``/proc/PID/stat``,
``/proc/meminfo``), ``admin-guide/cgroup-v2.rst`` (``cpu.max``, ``cpu.stat``) and
``scheduler/sched-bwc.rst`` (``cpu.cfs_quota_us``). Elsewhere nothing is known.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.findings.context import BusyProcess, HostObservation, QuotaCounters
from gpupanel.runs.supervision.memory.reading import memory_info, text_of

_MUCH: Final = 0.15
"""Of all processors' time for others: from there on it is found out who they are, which reads a
file of each process of the machine."""


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    name: str
    group: int
    ticks: int
    began: int


@dataclass(frozen=True, slots=True)
class _Ticks:
    """Processor time of all processors together, in clock ticks."""

    all: int
    idle: int


class HostLoad:
    """Compares the kernel's counters with those of the observation before.

    Args:
        proc: Where process information is.
        groups: Where control groups are.
    """

    def __init__(self, proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> None:
        self._proc = proc
        self._groups = groups
        self._ticks: _Ticks | None = None
        self._own: dict[int, _Process] = {}
        self._others: dict[int, _Process] | None = None

    def observe(self, pids: Iterable[int]) -> HostObservation:
        """Observe the host.

        Args:
            pids: Of the run's processes that are there; each leads a process group.
        """
        pids = tuple(pids)
        ticks, before = self._read_ticks(), self._ticks
        own, own_before = dict(self._processes(pids)), self._own
        self._ticks, self._own = ticks, own
        others = free = busiest = None
        if ticks is not None and before is not None and ticks.all > before.all and own:
            passed = ticks.all - before.all
            free = _fraction(ticks.idle - before.idle, passed)
            others = _fraction(
                passed - (ticks.idle - before.idle) - _grown(own, own_before), passed
            )
            if set(own) != set(own_before):
                others = None  # one of them just came, or went
            busiest = self._busiest(others, passed, set(pids))
        return HostObservation(
            time_s=time.time(),
            others_fraction=others,
            free_fraction=free,
            busiest=busiest,
            swap_used_mib=self._swap_used_mib(),
            quota=None if not pids else self._quota(pids[0]),
        )

    def _busiest(self, others: float | None, passed: int, pids: set[int]) -> BusyProcess | None:
        """Known from the second observation on that finds others busy."""
        if others is None or others < _MUCH:
            self._others = None
            return None
        here = (int(name) for name in os.listdir(self._proc) if name.isdecimal())  # noqa: PTH208
        found = {
            pid: each for pid, each in self._processes(here) if pid not in pids | {os.getpid()}
        }
        found = {pid: each for pid, each in found.items() if each.group not in pids}
        before, self._others = self._others, found
        if before is None:
            return None
        grown = {
            pid: each.ticks - before[pid].ticks
            for pid, each in found.items()
            if pid in before and before[pid].began == each.began
        }
        pid = max(grown, key=grown.__getitem__, default=None)
        if pid is None or grown[pid] <= 0:
            return None
        return BusyProcess(pid=pid, name=found[pid].name, fraction=_fraction(grown[pid], passed))

    def _processes(self, pids: Iterable[int]) -> Iterator[tuple[int, _Process]]:
        for pid in pids:
            # The name stands in parentheses, and may have some of its own.
            head, _, rest = self._stat_of(pid).rpartition(")")
            fields = rest.split()
            if len(fields) > 19:
                name = visible_line(head.partition("(")[2])
                ticks = int(fields[11]) + int(fields[12])
                yield pid, _Process(pid, name, int(fields[2]), ticks, int(fields[19]))

    def _stat_of(self, pid: int) -> str:
        # Not by pathlib, which takes three times as long: there may be thousands.
        try:
            with open(f"{self._proc}/{pid}/stat", "rb") as file:  # noqa: PTH123
                return file.read().decode(errors="replace")
        except OSError:
            return ""  # it has ended

    def _read_ticks(self) -> _Ticks | None:
        line, _, _ = text_of(self._proc / "stat").partition("\n")
        fields = line.split()
        if len(fields) < 9 or fields[0] != "cpu":
            return None
        # Those of guests are in user and nice already.
        numbers = [int(field) for field in fields[1:9]]
        return _Ticks(all=sum(numbers), idle=numbers[3] + numbers[4])

    def _swap_used_mib(self) -> int | None:
        known = memory_info(self._proc)
        if "SwapTotal" not in known or "SwapFree" not in known:
            return None
        return (known["SwapTotal"] - known["SwapFree"]) // 2**20

    def _quota(self, pid: int) -> QuotaCounters | None:
        """The tightest quota of processor time above the process."""
        found = [quota for folder in self._folders(pid) if (quota := _quota_of(folder)) is not None]
        return min(found, key=lambda each: each.processors, default=None)

    def _folders(self, pid: int) -> Iterator[Path]:
        """Its control group for processor time, and those above it."""
        lines = [
            line.split(":", 2)
            for line in text_of(self._proc / str(pid) / "cgroup").splitlines()
            if line.count(":") >= 2
        ]
        for number, controllers, path in lines:
            if "cpu" in controllers.split(","):
                bases = (self._groups / "cpu", self._groups / controllers)
            elif (number, controllers) == ("0", ""):
                bases = (self._groups, self._groups / "unified")
            else:
                continue
            base = next((each for each in bases if (each / "cgroup.procs").is_file()), bases[0])
            folder = base / path.lstrip("/")
            while folder.is_relative_to(base):
                yield folder
                folder = folder.parent


def _quota_of(folder: Path) -> QuotaCounters | None:
    """The quota of a control group; ``None``: it has none, or it cannot be read."""
    words = text_of(folder / "cpu.max").split()
    if not words:
        period = text_of(folder / "cpu.cfs_period_us").strip()
        words = [text_of(folder / "cpu.cfs_quota_us").strip(), period]
    if len(words) != 2 or not all(word.isdecimal() for word in words) or int(words[1]) == 0:
        return None
    lines = (line.split() for line in text_of(folder / "cpu.stat").splitlines())
    counted = {fields[0]: int(fields[1]) for fields in lines if len(fields) == 2}
    if "nr_periods" not in counted or "nr_throttled" not in counted:
        return None
    throttled_s = counted.get("throttled_usec", 0) / 1e6 + counted.get("throttled_time", 0) / 1e9
    return QuotaCounters(
        processors=int(words[0]) / int(words[1]),
        periods=counted["nr_periods"],
        throttled_periods=counted["nr_throttled"],
        throttled_s=throttled_s,
    )


def _grown(now: Mapping[int, _Process], before: Mapping[int, _Process]) -> int:
    return sum(each.ticks - before[pid].ticks for pid, each in now.items() if pid in before)


def _fraction(part: int, whole: int) -> float:
    return min(1.0, max(0.0, part / whole))
