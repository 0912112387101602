"""The processes on a GPU: one entry for each, with the names that the host knows."""

import getpass
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import psutil

from gpupanel.devices.gpus.pid_namespace import is_process_here
from gpupanel.devices.nvml import GpuProcess
from gpupanel.domain.telemetry import DeviceProcess

_T = TypeVar("_T")

_DYING_S: Final = 5.0
"""A process that was killed frees its memory first, tens of gigabytes in a second or two."""


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
class _Identity:
    """What the host knows of a process; nothing where it ended, or is of another container."""

    name: str | None = None
    user: str | None = None
    command: str | None = None
    started_s: float | None = None
    is_mine: bool = False


def is_pending(pid: int, number: signal.Signals = signal.SIGKILL) -> bool:
    """Whether a signal waits for a process, by the kernel's file of it (proc_pid_status(5))."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:  # it has ended, or this is not Linux
        return False
    pending = (line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))
    return any(int(mask, 16) >> (number - 1) & 1 for mask in pending)


class ProcessNames:
    """Names processes, asking the host once for each as long as it is seen.

    Call :meth:`forget_all_but` after each round: a pid that was gone for a round may come back as
    another process. May be used by several threads.

    Args:
        is_here: Whether the process of a number is the one that NVML means.
        is_killed: Whether a process is about to end because it was killed.
        now_s: A clock, in seconds.
    """

    def __init__(
        self,
        is_here: Callable[[int], bool] = is_process_here,
        is_killed: Callable[[int], bool] = is_pending,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_here = is_here
        self._is_killed = is_killed
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[int, _Identity] = {}
        self._killed_s: dict[int, float] = {}

    def named(
        self, process: GpuProcess, percent: float | None = None, *, only_draws: bool = False
    ) -> DeviceProcess:
        """The process with what the host knows of it.

        Args:
            process: As NVML lists it.
            percent: How much of the time it used the GPU.
            only_draws: Whether it stands in the list of those that draw alone.
        """
        with self._lock:
            known = self._known.get(process.pid)
        if known is None:
            known = _identity(process.pid) if self._is_here(process.pid) else _Identity()
            with self._lock:
                self._known[process.pid] = known
        return DeviceProcess(
            pid=process.pid,
            name=known.name,
            user=known.user,
            command=known.command,
            memory_used_mib=process.memory_used_mib,
            utilization_percent=percent,
            started_s=known.started_s,
            is_mine=known.is_mine,
            was_killed=known.name is not None and self._was_killed(process.pid),
            only_draws=only_draws,
        )

    def _was_killed(self, pid: int) -> bool:
        if not self._is_killed(pid):
            return False
        with self._lock:
            return self._now_s() - self._killed_s.setdefault(pid, self._now_s()) >= _DYING_S

    def forget_all_but(self, seen: Iterable[int]) -> None:
        """Forget every process that is not among ``seen``."""
        still_there = set(seen)
        with self._lock:
            for pid in [pid for pid in self._known if pid not in still_there]:
                del self._known[pid]
                self._killed_s.pop(pid, None)


def _identity(pid: int) -> _Identity:
    try:
        process = psutil.Process(pid)
        name, started_s = process.name(), process.create_time()
    except psutil.Error:
        return _Identity()
    # The host may keep each of these from other users.
    user = _if_allowed(process.username)
    return _Identity(
        name=name,
        user=user,
        command=_command(process),
        started_s=started_s,
        is_mine=_is_mine(process, user),
    )


def _command(process: psutil.Process) -> str | None:
    # Kernel threads and processes that end just now have none.
    return " ".join(_if_allowed(process.cmdline) or ()) or None


def _is_mine(process: psutil.Process, user: str | None) -> bool:
    if hasattr(os, "getuid"):
        uids = _if_allowed(process.uids)
        return uids is not None and uids.real == os.getuid()
    # Windows writes the domain before the name.
    return user is not None and user.rpartition("\\")[2] == getpass.getuser()


def _if_allowed(question: Callable[[], _T]) -> _T | None:
    try:
        return question()
    except psutil.Error:
        return None
