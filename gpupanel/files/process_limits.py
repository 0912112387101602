"""Limits that the system sets for this process and whatever it starts."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

_STACKS: Final = 16 * 2**20
"""Bytes of data that a thread may reserve without using them."""


def address_space_limit() -> int | None:
    """The most bytes of address space that a process may take (``ulimit -v``); ``None``: all."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def file_size_limit() -> int | None:
    """The most bytes that a file may have which a process writes (``ulimit -f``); ``None``: any."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit


def processor_time_limit() -> int | None:
    """The most seconds of processor that a process may use (``ulimit -t``); ``None``: any."""
    limit, most = resource.getrlimit(resource.RLIMIT_CPU)
    if limit == resource.RLIM_INFINITY:
        return None
    # With each SIGXCPU the kernel puts the soft limit one second further.
    is_ours = most != resource.RLIM_INFINITY and limit >= _soft_limit_s(most)
    return most if is_ours else limit


def hear_of_used_time(hear: Callable[[], None]) -> None:
    """Have a function called before the system ends this process for its processor time.

    At the hard limit the system kills without a word, and a shell sets the soft limit, at which it
    sends SIGXCPU, to the same: that one is put some seconds before it. Where time is not limited
    nothing is done. Call in the main thread; what is called may raise.
    """
    limit, most = resource.getrlimit(resource.RLIMIT_CPU)
    if limit == resource.RLIM_INFINITY:
        return
    if limit == most:
        resource.setrlimit(resource.RLIMIT_CPU, (_soft_limit_s(most), most))
    signal.signal(signal.SIGXCPU, lambda *_: hear())


def time_limit_text(who: str) -> str:
    """A sentence: process ``who`` ends because it reached its limit of processor time."""
    limit = processor_time_limit() or 0
    return (
        f"{who} has used nearly all the processor time that a process may use here, {limit:,} s "
        "(ulimit -t), and ends. Start from a shell without that limit: ulimit -t unlimited."
    )


def _soft_limit_s(most_s: int) -> int:
    """The soft limit in seconds of processor time: it leaves time to save and to report."""
    return most_s - max(1, min(10, most_s // 6))


def process_count_limit() -> int | None:
    """How many processes and threads a user may have (``ulimit -u``); ``None``: any."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return None if limit == resource.RLIM_INFINITY else limit


def limit_further_memory(further_bytes: int) -> None:
    """Let this process take no more than so many bytes beside what it holds now.

    What is asked for beyond that is refused, in time for the machine to have memory left, and
    before the kernel kills anybody for lack of it. Stacks of threads that a library is still to
    begin are let pass, of which hardly any of the memory is used. Memory that is shared and maps of
    files are not limited (``RLIMIT_DATA`` of ``getrlimit(2)``, since Linux 4.7).

    Args:
        further_bytes: Of private memory, as ``VmData`` counts it in ``/proc/self/status``.
    """
    held = _data_bytes()
    threads = 2 * (os.cpu_count() or 1) + 8
    limit = held + further_bytes + threads * _STACKS
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    # Libraries that do not expect a refusal crash: nobody wants gigabytes written for that.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _data_bytes() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
