"""What the host withholds from a training: memory that is on the disk, a quota of processor."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.data import DataCache
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Fix
from gpupanel.planning.findings.context import FindingContext, hint

_GROWTH_MIB: Final = 64
"""Within the window. What has been in swap for long is what nobody needs; memory that goes there
at two MiB a second is wanted back soon."""
_THROTTLED_PERIODS: Final = 0.1
"""Of the periods in which the group ran (``nr_throttled`` of ``nr_periods``: Linux,
``Documentation/scheduler/sched-bwc.rst``): a burst at a checkpoint is less."""
_LEAST_PERIODS: Final = 50
"""Five seconds of the usual 100 ms."""


def swap_growing(context: FindingContext) -> Iterator[Finding]:
    """Memory of the machine that goes to the disk while the training runs."""
    known = [each for each in context.hosts if each.swap_used_mib is not None]
    if not context.has_settled or len(known) < 2:
        return
    first, last = known[0].swap_used_mib or 0, known[-1].swap_used_mib or 0
    grown = last - first
    if grown < _GROWTH_MIB or last <= (known[-2].swap_used_mib or 0):
        return
    growing = next(each for each in known if (each.swap_used_mib or 0) > first)
    data = context.profile.data
    fix = None
    if data.is_decoded and data.cache is DataCache.MEMORY:
        fix = context.fix(Fix.of("Cache on disk", "data.cache", DataCache.DISK.value))
    yield Finding(
        problem=hint(
            "swap_growing",
            f"The machine's memory is full: {last:,} MiB of it are in swap on the disk, {grown:,} "
            f"MiB more than {known[-1].time_s - known[0].time_s:.0f} s ago.",
            "Close other programs, or let the training hold less: data.cache on disk, a smaller "
            "batch.",
            (fix,),
            "data.cache" if fix is not None else "",
        ),
        since_s=growing.time_s,
        device_key=CPU_KEY,
    )


def cpu_quota(context: FindingContext) -> Iterator[Finding]:
    """A control group's quota that holds the processes of the run back."""
    known = [each for each in context.hosts if each.quota is not None]
    if not context.has_settled or len(known) < 2:
        return
    before, last = known[0].quota, known[-1].quota
    assert before is not None
    assert last is not None
    periods = last.periods - before.periods
    throttled = last.throttled_periods - before.throttled_periods
    # Another group by now, or counters that began again.
    if periods < _LEAST_PERIODS or throttled < 0 or last.processors != before.processors:
        return
    part = throttled / periods
    recent = known[-2].quota
    assert recent is not None
    if part < _THROTTLED_PERIODS or last.throttled_periods == recent.throttled_periods:
        return
    device = context.device(CPU_KEY)
    cores = None if device is None else device.core_count
    seconds = known[-1].time_s - known[0].time_s
    cost = None
    if cores and seconds > 0.0:
        cost = min(1.0, max(0.0, (last.throttled_s - before.throttled_s) / cores / seconds))
    of = f" of the {cores} there are" if cores else ""
    yield Finding(
        problem=hint(
            "cpu_quota",
            f"A quota of the control group allows the run {last.processors:g} processors{of}: "
            f"the kernel held it back in {part * 100:.0f} % of the periods of the last "
            f"{seconds:.0f} s.",
            "Raise the quota where it is set: cpu.max of the control group, --cpus of a container, "
            "CPUQuota= of a service, --cpus-per-task of a Slurm job.",
        ),
        since_s=known[0].time_s,
        cost_fraction=cost,
        device_key=CPU_KEY,
    )
