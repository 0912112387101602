"""Whether it was memory that a process lacked: by its own report, by the kernel, by its log.

Of a process that crashed because memory was refused only the end of its log says so.

TensorFlow may fall over a refused allocation instead of raising an error for it. Its allocators log
each refusal before that ("Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB
(rounded to 1342177280)requested by op MatMul", ``xla/tsl/framework/bfc_allocator.cc`` of 2.21), and
the C++ library an allocation of the host's ("terminate called after throwing an instance of
'std::bad_alloc'"). A thread that has no room for its stack ends the process, too ("Thread
tf_numa_-1_Eigen creation via pthread_create() failed.", ``tsl/platform/default/env.cc``): where
the address space is limited that is what it lacked. Abseil's own allocator says "mmap error: 12"
(``absl/base/internal/low_level_alloc.cc``): ENOMEM.
"""

import re
import signal
import time
from collections.abc import Iterable, Sequence
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.files.process_limits import address_space_limit
from gpupanel.runs.directory.log_since import LogSince
from gpupanel.runs.supervision.memory.host_memory_watch import HostMemoryWatch

_CRASHES: Final = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
_MOST_BYTES: Final = 2**20
_REFUSED: Final = re.compile(
    r"Allocator \((?P<name>[^)]+)\) ran out of memory trying to allocate "
    r"\S+ ?\(rounded to (?P<asked>\d+)\)"
)
_GPU: Final = re.compile(r"GPU_(?P<index>\d+)_bfc")
_BAD_ALLOC: Final = b"std::bad_alloc"
_NOT_MAPPED: Final = b"] RAW: mmap error: 12"
_NO_THREAD: Final = b"creation via pthread_create() failed"


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
        lines = self._logs[place].last_lines(_MOST_BYTES)
        found = shortage_in_log(lines, place, self._plan.gang[place])
        return found or self._host_memory.crash_of(place)


def shortage_in_log(
    lines: Sequence[bytes], place: int, process: PlannedProcess
) -> MemoryExhausted | None:
    """The last refusal that the end of a crashed process's log reports; ``None``: none.

    Args:
        lines: The end of its log.
        place: Its place in the gang.
        process: What it was there for: says which GPU an allocator's number means.
    """
    words = [_BAD_ALLOC, _NOT_MAPPED]
    if address_space_limit() is not None:
        words.append(_NO_THREAD)
    for line in reversed(lines):
        found = _REFUSED.search(line.decode(errors="replace"))
        if found is None and not any(word in line for word in words):
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


def _key_of(index: int, process: PlannedProcess) -> str | None:
    gpus = process.logical_gpus
    return gpus[index] if index < len(gpus) else None
