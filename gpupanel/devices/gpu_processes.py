"""The processes on a GPU: one entry for each, with the names that the host knows."""

from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from gpupanel.domain.telemetry import DeviceProcess


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """An entry of one of NVML's process lists; its memory is ``None`` when NVML may not tell."""

    pid: int
    memory_used_mib: int | None


def merged(lists: Iterable[Iterable[GpuProcess]]) -> tuple[GpuProcess, ...]:
    """Each process once, in order of the pids.

    A process that computes and draws is in two of NVML's lists with the same memory, a client of
    MPS in a third, so the greatest holds. Inside one list it may appear once for each MIG
    instance, and these add up.
    """
    memory: dict[int, int | None] = {}
    for processes in lists:
        for pid, used in _sums(processes).items():
            known = memory.get(pid)
            memory[pid] = used if known is None else max(known, used or 0)
    return tuple(GpuProcess(pid, used) for pid, used in sorted(memory.items()))


def _sums(processes: Iterable[GpuProcess]) -> dict[int, int | None]:
    sums: dict[int, int | None] = {}
    for process in processes:
        known, more = sums.get(process.pid), process.memory_used_mib
        sums[process.pid] = more if known is None else known + (more or 0)
    return sums


@dataclass(frozen=True, slots=True)
class _Owner:
    name: str | None
    user: str | None


class ProcessNames:
    """Names processes, asking the host once for each as long as it is seen.

    Call :meth:`forget_others` after each round: a pid that was gone for a round may come back as
    another process.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Owner] = {}

    def named(self, process: GpuProcess) -> DeviceProcess:
        """The process with its name and user, each ``None`` where the host does not tell."""
        owner = self._known.get(process.pid)
        if owner is None:
            owner = self._known[process.pid] = _owner(process.pid)
        return DeviceProcess(
            pid=process.pid,
            name=owner.name,
            user=owner.user,
            memory_used_mib=process.memory_used_mib,
        )

    def forget_others(self, seen: Iterable[int]) -> None:
        """Forget every process that is not among ``seen``."""
        still_there = set(seen)
        self._known = {pid: owner for pid, owner in self._known.items() if pid in still_there}


def _owner(pid: int) -> _Owner:
    try:
        process = psutil.Process(pid)
        name = process.name()
    except psutil.Error:
        # Ended meanwhile, or outside of this container.
        return _Owner(None, None)
    try:
        return _Owner(name, process.username())
    except psutil.Error:
        return _Owner(name, None)
