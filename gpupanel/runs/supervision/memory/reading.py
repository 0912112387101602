"""Reads what there is to know of memory: from the kernel's files and from logs of processes.

What follows from it is decided in :mod:`shortage_watch`.
"""

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.plan import PlannedProcess
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.process_limits import address_space_limit

_KILLS: Final = re.compile(r"^oom_kill (?P<count>\d+)$", re.MULTILINE)
_INACTIVE_FILES: Final = re.compile(r"^(total_)?inactive_file (?P<bytes>\d+)$", re.MULTILINE)
_UNLIMITED: Final = 2**60
"""Version 1 writes nearly 2**63 for "max"."""

_REFUSED: Final = re.compile(
    r"Allocator \((?P<name>[^)]+)\) ran out of memory trying to allocate "
    r"\S+ ?\(rounded to (?P<asked>\d+)\)"
)
_GPU: Final = re.compile(r"GPU_(?P<index>\d+)_bfc")
_BAD_ALLOC: Final = b"std::bad_alloc"
_NOT_MAPPED: Final = b"] RAW: mmap error: 12"
_NO_THREAD: Final = b"creation via pthread_create() failed"

_AGAIN: Final = b"(2304 bytes) from device"
_ENDLESS_TIMES: Final = 200
"""In what the log gets between two readings; an allocator that ends passes that size once."""
_MOST_BYTES: Final = 2**18
"""The most that is read of the log's new end: about 1,700 such lines."""


class KernelCounters:
    """Reads the kernel's files; what cannot be read is ``None``.

    From ``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/memory.rst``, and
    ``mm/oom_kill.c`` of Linux: ``oom_kill`` in a control group's ``memory.events``
    (``memory.oom_control`` in version 1) counts the processes of the group that were killed, by
    whichever limit; ``oom_kill`` in ``/proc/vmstat`` counts those of the machine.

    Args:
        proc: Where process information is.
        groups: Where control groups are.
    """

    def __init__(self, proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> None:
        self._proc = proc
        self._groups = groups

    def group_of(self, pid: int) -> Path | None:
        """The folder of the control group that counts and limits the memory of a process."""
        text = text_of(self._proc / str(pid) / "cgroup")
        lines = [line.split(":", 2) for line in text.splitlines() if line.count(":") >= 2]
        for _, controllers, path in lines:
            if "memory" in controllers.split(","):
                return self._folder(self._groups / "memory", path)
        for number, controllers, path in lines:
            if (number, controllers) == ("0", ""):
                return self._folder(self._groups, path)
        return None

    def kills_in(self, group: Path) -> int | None:
        """How many processes of that group were killed for lack of memory."""
        return _kills(text_of(group / "memory.events") or text_of(group / "memory.oom_control"))

    def kills_on_machine(self) -> int | None:
        """How many processes of this machine were killed for lack of memory."""
        return _kills(text_of(self._proc / "vmstat"))

    def limit_of(self, group: Path) -> int | None:
        """The most bytes that a group may take, by its own limit or one above it."""
        limits = []
        for folder in (group, *group.parents):
            if not folder.is_relative_to(self._groups):
                break
            words = text_of(folder / "memory.max") or text_of(folder / "memory.limit_in_bytes")
            if words.strip().isdecimal() and int(words) < _UNLIMITED:
                limits.append(int(words))
        return min(limits, default=None)

    def held_by(self, pid: int) -> int | None:
        """The bytes in memory that a process has to itself: libraries belong to all who use them.

        From ``/proc/PID/statm``: resident pages without those that a file or others share.
        """
        fields = text_of(self._proc / str(pid) / "statm").split()
        if len(fields) < 3:
            return None
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")

    def address_space_of(self, pid: int) -> int | None:
        """The bytes of address space that a process has taken: what ``RLIMIT_AS`` limits."""
        fields = text_of(self._proc / str(pid) / "statm").split()
        return int(fields[0]) * os.sysconf("SC_PAGE_SIZE") if fields else None

    def available(self) -> tuple[int, int] | None:
        """The bytes that programs of this machine can still get, and how many it has."""
        known = memory_info(self._proc)
        if "MemAvailable" not in known or "MemTotal" not in known:
            return None
        return known["MemAvailable"], known["MemTotal"]

    def available_to(self, pid: int) -> int | None:
        """The bytes that a process can still get: of the machine, and within its control group."""
        machine = self.available()
        left = [] if machine is None else [machine[0]]
        group = self.group_of(pid)
        limit = None if group is None else self.limit_of(group)
        if group is not None and limit is not None:
            left.append(max(0, limit - self._taken_in(group)))
        return min(left, default=None)

    def _taken_in(self, group: Path) -> int:
        """What a group holds without files that the kernel drops when memory is wanted."""
        words = text_of(group / "memory.current") or text_of(group / "memory.usage_in_bytes")
        statistics = text_of(group / "memory.stat")
        found = _INACTIVE_FILES.search(statistics)
        taken = int(words) if words.strip().isdecimal() else 0
        return max(0, taken - (int(found["bytes"]) if found else 0))

    def _folder(self, base: Path, path: str) -> Path | None:
        """In a container the path is that of the host, and what is mounted is its end."""
        folder = base / path.lstrip("/")
        return next((each for each in (folder, base) if each.is_dir()), None)


def shortage_in_log(
    lines: Sequence[bytes], place: int, process: PlannedProcess
) -> MemoryExhausted | None:
    """The last refused allocation that the end of a crashed process's log reports, if one does.

    TensorFlow may fall over a refused allocation instead of raising an error for it. Its allocators
    log each refusal before that ("Allocator (GPU_0_bfc) ran out of memory trying to allocate
    1.25GiB (rounded to 1342177280)requested by op MatMul", ``xla/tsl/framework/bfc_allocator.cc``
    of 2.21), and the C++ library an allocation of the host's ("terminate called after throwing an
    instance of 'std::bad_alloc'"). A thread that has no room for its stack ends the process, too
    ("Thread tf_numa_-1_Eigen creation via pthread_create() failed.",
    ``tsl/platform/default/env.cc``): where the address space is limited that is what it lacked.
    Abseil's own allocator says "mmap error: 12" (``absl/base/internal/low_level_alloc.cc``):
    ENOMEM.

    Args:
        lines: The end of its log.
        place: Its place in the gang.
        process: What it was there for: says which GPU an allocator's number means.
    """
    signs = [_BAD_ALLOC, _NOT_MAPPED]
    if address_space_limit() is not None:
        signs.append(_NO_THREAD)
    for line in reversed(lines):
        found = _REFUSED.search(line.decode(errors="replace"))
        if found is None and not any(sign in line for sign in signs):
            continue
        gpu = _GPU.fullmatch(found["name"]) if found else None
        return MemoryExhausted(
            time_s=time.time(),
            process=place,
            device_key=CPU_KEY if gpu is None else _key_of(int(gpu["index"]), process),
            logical_device=f"/device:GPU:{gpu['index']}" if gpu else None,
            asked_bytes=int(found["asked"]) if found else None,
        )
    return None


class AllocationWatch:
    """Sees in the log of a process that TensorFlow asks a full GPU for memory without end.

    ``BFCAllocator::Extend`` (xla/tsl/framework/bfc_allocator.cc) asks for a tenth less, rounded up
    to 256 bytes, until it is given that, or it is less than what is wanted. A tenth less than 2,304
    is 2,304 again, so that a small tensor is asked for without end where nothing at all is left of
    a GPU whose limit is not reached: others have taken it meanwhile. The log gets a line each time,
    "failed to allocate 2.2KiB (2304 bytes) from device" (``cuda_executor.cc``), thousands in a
    second; the process uses the processor, and holds Python's lock, so that it cannot report that
    itself.

    Args:
        log: Of a process that uses GPUs.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0

    def is_endless(self) -> bool:
        """Whether since the last reading an allocator has asked for the same again and again."""
        try:
            with open_to_read(self._log) as file:
                size = file.seek(0, 2)
                file.seek(max(self._read, size - _MOST_BYTES))
                new = file.read(_MOST_BYTES)
        except OSError:
            return False
        self._read = size
        return new.count(_AGAIN) >= _ENDLESS_TIMES


def _key_of(index: int, process: PlannedProcess) -> str | None:
    gpus = process.logical_gpus
    return gpus[index] if index < len(gpus) else None


def memory_info(proc: Path) -> dict[str, int]:
    """The bytes that ``/proc/meminfo`` has under each name."""
    lines = (line.split() for line in text_of(proc / "meminfo").splitlines())
    return {fields[0].rstrip(":"): int(fields[1]) * 1024 for fields in lines if len(fields) > 1}


def text_of(path: Path) -> str:
    """What a file of the kernel's has; empty where it is not there or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _kills(text: str) -> int | None:
    found = _KILLS.search(text)
    return int(found["count"]) if found else None
