"""A GPU whose link to the host is slower than it should be."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.finding import Finding
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.planning.findings.context import FindingContext, hint

_FEW_LANES: Final = 4
"""Graphics cards have 16 lanes, some small ones 8 (PCI Express Card Electromechanical
Specification); 4 are those of a slot beside the processor's own, or of a card that sits badly."""
_FIRST_GENERATION: Final = 1
"""2.5 GT/s a lane (PCI Express Base Specification): where a GPU goes when it is idle, not at
work (NVML, ``nvmlDeviceGetCurrPcieLinkGeneration``)."""


def slow_pcie_link(context: FindingContext) -> Iterator[Finding]:
    """A link of four lanes or fewer, or of generation 1, in every sample in which the GPU works.

    Silent where that is known to be all that the GPU itself can have.
    """
    for gpu in context.gpus:
        working = context.working(gpu.key)
        known = [(time_s, each) for time_s, each in working if _is_known(each)]
        if not known:
            continue
        first, last = known[0], known[-1][1]
        most_lanes, most_generation = _most(context, gpu.key)
        few = all((each.pcie_width or 0) <= _FEW_LANES for _, each in known)
        old = all((each.pcie_generation or 0) <= _FIRST_GENERATION for _, each in known)
        has_few = few and (most_lanes is None or most_lanes > (last.pcie_width or 0))
        is_old = old and (most_generation is None or most_generation > _FIRST_GENERATION)
        if not has_few and not is_old:
            continue
        could = _could(most_lanes, most_generation)
        yield Finding(
            problem=hint(
                "slow_pcie_link",
                f"{context.name(gpu.key)} is connected by PCI Express {last.pcie_generation} with "
                f"{last.pcie_width} lanes while it trains{could}: examples and gradients take "
                "longer to it.",
                "Switch the machine off and seat the card again, or use the slot next to the "
                "processor; the firmware may limit the slot, too.",
            ),
            since_s=first[0],
            device_key=gpu.key,
        )


def _is_known(reading: DeviceReading) -> bool:
    return reading.pcie_width is not None and reading.pcie_generation is not None


def _most(context: FindingContext, key: str) -> tuple[int | None, int | None]:
    device = context.device(key)
    return (None, None) if device is None else (device.pcie_width_max, device.pcie_generation_max)


def _could(lanes: int | None, generation: int | None) -> str:
    if lanes is None or generation is None:
        return ""
    return f" (card and slot can have {generation} with {lanes})"
