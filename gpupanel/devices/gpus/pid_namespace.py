"""Whether a number that NVML gives a process is one of a process here.

The driver numbers processes as the host does. In a container with process numbers of its own, the
same number may be that of another process, which has nothing to do with the GPU.
"""

from functools import cache
from pathlib import Path
from typing import Final

_INITIAL: Final = 0xEFFFFFFC
"""The inode of the host's own namespace: ``PROC_PID_INIT_INO`` in Linux's include/linux/proc_ns.h
(in ``include/uapi/linux/nsfs.h`` since 6.18)."""
_DRIVER_FILES: Final = "/dev/nvidia"


@cache
def is_of_host(proc: Path = Path("/proc")) -> bool:
    """Whether processes have the host's numbers here; also where there is no such namespace."""
    try:
        return (proc / "self" / "ns" / "pid").stat().st_ino == _INITIAL
    except OSError:
        return True


def is_process_here(
    pid: int, *, proc: Path = Path("/proc"), driver_files: str = _DRIVER_FILES
) -> bool:
    """Whether the process of that number is the one that NVML means.

    With numbers of its own a process counts only if it has a file of the driver open, as each has
    that uses a GPU; whose files cannot be read does not. Without files of the driver that cannot
    be known, and the numbers are taken as they are.

    Args:
        pid: As NVML lists it.
        proc: The folder of the system's processes.
        driver_files: How the paths of the driver's files begin.
    """
    if is_of_host(proc) or not Path(f"{driver_files}ctl").exists():
        return True
    try:
        return any(_leads_to(file, driver_files) for file in (proc / str(pid) / "fd").iterdir())
    except OSError:
        return False


def _leads_to(file: Path, beginning: str) -> bool:
    try:
        return str(file.readlink()).startswith(beginning)
    except OSError:
        return False  # it was closed just now
