"""Limits of the shell that would end a run, or refuse it something: known before it is started."""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.problem import Problem, Severity
from gpupanel.files.process_limits import processor_time_limit


@dataclass(frozen=True, slots=True)
class _Limit:
    """One of ``getrlimit(2)``.

    Attributes:
        option: Of ``ulimit``.
        unit: Bytes, or whatever it counts, in one of what ``ulimit`` counts.
        enough: What does no harm; ``None``: only no limit does none.
        words: What it allows, with a place for the number that ``ulimit`` shows.
        harm: What comes of it.
    """

    resource: int
    option: str
    unit: int
    enough: int | None
    words: str
    harm: str
    spares_root: bool = False


_LIMITS: Final = (
    _Limit(
        resource.RLIMIT_CPU,
        "t",
        1,
        None,
        "A process that is started from here may use {} s of processor time (ulimit -t)",
        "A training uses one second for each processor that is at work, and then the system ends "
        "it; gpupanel's own processes end, too.",
    ),
    _Limit(
        resource.RLIMIT_AS,
        "v",
        1024,
        None,
        "A process that is started from here may take {} KiB of address space (ulimit -v)",
        "CUDA and TensorFlow reserve more of it than they ever use of memory, and fail.",
    ),
    _Limit(
        resource.RLIMIT_FSIZE,
        "f",
        1024,
        4 * 2**30,
        "A file that is written from here may have {} KiB (ulimit -f)",
        "A checkpoint or a log that becomes larger ends the run.",
    ),
    _Limit(
        resource.RLIMIT_NPROC,
        "u",
        1,
        1_024,
        "This user may have {} processes and threads at a time (ulimit -u)",
        "A training has some hundred, and aborts where it is given no further one.",
        spares_root=True,
    ),
    _Limit(
        resource.RLIMIT_NOFILE,
        "n",
        1,
        256,
        "A process that is started from here may have {} files open (ulimit -n)",
        "TensorFlow opens libraries, data, and a connection to each of its processes.",
    ),
)


def shell_limits() -> tuple[Problem, ...]:
    """A warning for each limit of this process that a run could reach, and inherits."""
    return tuple(_found())


def _found() -> Iterator[Problem]:
    for each in _LIMITS:
        soft, hard = resource.getrlimit(each.resource)
        if each.resource == resource.RLIMIT_CPU:
            # This process may have put its own lower, to have a last word.
            soft = processor_time_limit() or resource.RLIM_INFINITY
        is_harmless = each.enough is not None and soft >= each.enough
        if soft == resource.RLIM_INFINITY or is_harmless:
            continue
        if each.spares_root and os.geteuid() == 0:
            continue
        is_free = hard == resource.RLIM_INFINITY
        can_be_raised = is_free or (each.enough is not None and hard >= each.enough)
        most = "unlimited" if is_free else str(hard // each.unit)
        yield Problem(
            code="limit_of_the_shell",
            severity=Severity.WARNING,
            message=f"{each.words.format(f'{soft // each.unit:,}')}. {each.harm}",
            hint="The command starts gpupanel without that limit."
            if can_be_raised
            else "This shell cannot raise it: start gpupanel from another one, or ask whoever "
            "administers the machine (/etc/security/limits.conf, or the limits of the service).",
            command=f"ulimit -S{each.option} {most} && gpupanel" if can_be_raised else "",
        )
