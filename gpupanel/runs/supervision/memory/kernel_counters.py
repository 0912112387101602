"""What the kernel reports of memory: whom it killed for lack of it, limits, what a process holds.

From ``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/memory.rst``, and ``mm/oom_kill.c``
of Linux: ``oom_kill`` in a control group's ``memory.events`` (``memory.oom_control`` in version 1)
counts the processes of the group that were killed, by whichever limit; ``oom_kill`` in
``/proc/vmstat`` counts those of the machine.
"""

import os
import re
from pathlib import Path
from typing import Final

_KILLS: Final = re.compile(r"^oom_kill (?P<count>\d+)$", re.MULTILINE)
_INACTIVE_FILES: Final = re.compile(r"^(total_)?inactive_file (?P<bytes>\d+)$", re.MULTILINE)
_UNLIMITED: Final = 2**60
"""Version 1 writes no word for it, but nearly 2**63."""


class KernelCounters:
    """Reads the kernel's files; what cannot be read is ``None``.

    Args:
        proc: Where process information is.
        groups: Where control groups are.
    """

    def __init__(self, proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> None:
        self._proc = proc
        self._groups = groups

    def group_of(self, pid: int) -> Path | None:
        """The folder of the control group that counts and limits the memory of a process."""
        text = _text(self._proc / str(pid) / "cgroup")
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
        return _kills(_text(group / "memory.events") or _text(group / "memory.oom_control"))

    def kills_on_machine(self) -> int | None:
        """How many processes of this machine were killed for lack of memory."""
        return _kills(_text(self._proc / "vmstat"))

    def limit_of(self, group: Path) -> int | None:
        """The most bytes that a group may take, by its own limit or one above it."""
        limits = []
        for folder in (group, *group.parents):
            if not folder.is_relative_to(self._groups):
                break
            words = _text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes")
            if words.strip().isdecimal() and int(words) < _UNLIMITED:
                limits.append(int(words))
        return min(limits, default=None)

    def held_by(self, pid: int) -> int | None:
        """The bytes in memory that a process has to itself: libraries belong to all who use them.

        From ``/proc/PID/statm``: resident pages without those that a file or others share.
        """
        fields = _text(self._proc / str(pid) / "statm").split()
        if len(fields) < 3:
            return None
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")

    def address_space_of(self, pid: int) -> int | None:
        """The bytes of address space that a process has taken: what ``RLIMIT_AS`` limits."""
        fields = _text(self._proc / str(pid) / "statm").split()
        return int(fields[0]) * os.sysconf("SC_PAGE_SIZE") if fields else None

    def available(self) -> tuple[int, int] | None:
        """The bytes that programs of this machine can still get, and how many it has."""
        lines = (line.split() for line in _text(self._proc / "meminfo").splitlines())
        known = {fields[0]: int(fields[1]) * 1024 for fields in lines if len(fields) > 1}
        if "MemAvailable:" not in known or "MemTotal:" not in known:
            return None
        return known["MemAvailable:"], known["MemTotal:"]

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
        words = _text(group / "memory.current") or _text(group / "memory.usage_in_bytes")
        statistics = _text(group / "memory.stat")
        found = _INACTIVE_FILES.search(statistics)
        taken = int(words) if words.strip().isdecimal() else 0
        return max(0, taken - (int(found["bytes"]) if found else 0))

    def _folder(self, base: Path, path: str) -> Path | None:
        """In a container the path is that of the host, and what is mounted is its end."""
        folder = base / path.lstrip("/")
        return next((each for each in (folder, base) if each.is_dir()), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _kills(text: str) -> int | None:
    found = _KILLS.search(text)
    return int(found["count"]) if found else None
