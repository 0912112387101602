"""GPU memory that a growing allocator took and cannot use."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.finding import Finding
from gpupanel.domain.memory import Allocator
from gpupanel.domain.problem import Fix
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.planning.findings.context import FindingContext, hint

_CONTEXT_MIB: Final = 1_024
"""CUDA's context and the libraries' kernels, which no allocator counts: 300 to 900 MiB."""
_GROWTH: Final = 2.0
"""TensorFlow's allocator doubles what it takes at once while it grows (``Extend`` in
``xla/tsl/framework/bfc_allocator.cc``), so it may hold twice of what was ever in use; what is
beyond that lies in pieces, between others that are in use."""


def growth_fragmentation(context: FindingContext) -> Iterator[Finding]:
    """A GPU whose memory grows, and of which far more is held than was ever in use at once."""
    if context.profile.devices.allocator is Allocator.CUDA_MALLOC_ASYNC:
        return
    for gpu in context.gpus:
        readings = context.readings(gpu.key)
        allocated = [each for each in context.allocated if each.device_key == gpu.key]
        if not gpu.memory_growth or not allocated or not readings:
            continue
        held = _held_mib(context, readings[-1][1])
        peak = sum(each.peak_mib for each in allocated)
        expected = len(allocated) * _CONTEXT_MIB + _GROWTH * peak
        if held is None or held <= expected:
            continue
        yield Finding(
            problem=hint(
                "growth_fragmentation",
                f"TensorFlow holds {held:,} MiB of {context.name(gpu.key)}, of which at most "
                f"{peak:,} MiB were ever in use at once: its memory grew in pieces.",
                "Give it a limit from the beginning, or let CUDA's allocator put pieces together: "
                "what is lost is missing for larger batches.",
                (
                    context.fix(
                        Fix.of(
                            "Use CUDA's allocator",
                            "devices.allocator",
                            Allocator.CUDA_MALLOC_ASYNC.value,
                        )
                    ),
                ),
                "devices.allocator",
            ),
            since_s=readings[-1][0],
            device_key=gpu.key,
        )


def _held_mib(context: FindingContext, reading: DeviceReading) -> int | None:
    """What the run's processes hold of a GPU; ``None``: the driver does not say."""
    own = [each.memory_used_mib for each in reading.processes if each.pid in context.own_pids]
    known = [held for held in own if held is not None]
    return sum(known) if known and len(known) == len(own) else None
