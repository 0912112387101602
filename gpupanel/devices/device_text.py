"""What devices report, in words that the window and the terminal share."""

from collections.abc import Sequence
from typing import Final

from gpupanel.domain.device import DeviceLink, LinkKind, LostGpu
from gpupanel.domain.pci import short_bus_id
from gpupanel.domain.telemetry import ThrottleReason
from gpupanel.domain.visible_text import visible_line

_REASONS: Final = {
    ThrottleReason.IDLE: "idle",
    ThrottleReason.APPLICATION_CLOCKS: "clocks set by a user",
    ThrottleReason.DISPLAY_CLOCKS: "clocks of the display",
    ThrottleReason.SYNC_BOOST: "clocks of the sync group",
    ThrottleReason.POWER_CAP: "power limit",
    ThrottleReason.THERMAL: "temperature",
    ThrottleReason.HARDWARE_THERMAL: "heat, by the hardware",
    ThrottleReason.HARDWARE_POWER_BRAKE: "the power supply",
    ThrottleReason.HARDWARE_SLOWDOWN: "the hardware",
}

_LINKS: Final = {
    LinkKind.NVLINK: "NVLink",
    LinkKind.SAME_BOARD: "same board",
    LinkKind.PCIE_SWITCH: "PCIe switch",
    LinkKind.PCIE_SWITCHES: "PCIe switches",
    LinkKind.HOST_BRIDGE: "PCIe host bridge",
    LinkKind.NUMA_NODE: "same NUMA node",
    LinkKind.SYSTEM: "link between processors",
}


LOST_BEFORE: Final = (
    "The driver lists this GPU, but it does not answer: it fell off the bus or needs a reset."
)
LOST_ADVICE: Final = (
    "Restart the machine; that usually brings it back. If it does not, check its power cables and "
    "its slot: the kernel's log says why it was lost (dmesg | grep -i xid)."
)


def lost_gpu_name(gpu: LostGpu) -> str:
    """What a GPU is called of which the driver says nothing: "RTX 3060 at 0000:02:00.0"."""
    name = visible_line(gpu.name or "A GPU")
    return f"{name} at {short_bus_id(gpu.pci_bus_id)}" if gpu.pci_bus_id else name


def lost_before_sentence(gpu: LostGpu) -> str:
    """What happened to a GPU that was lost before it was listed, and what to do."""
    return f"{lost_gpu_name(gpu)}: {LOST_BEFORE} {LOST_ADVICE}"


def throttling(reasons: Sequence[ThrottleReason]) -> str:
    """Why the clocks are below their maximum: "power limit, temperature", or "none"."""
    return ", ".join(_REASONS[reason] for reason in reasons) or "none"


def pcie_link(generation: int | None, width: int | None) -> str | None:
    """A PCI Express link: "gen 4 x16"; ``None`` when nothing is known of it."""
    parts = (f"gen {generation}" if generation else "", f"x{width}" if width else "")
    return " ".join(part for part in parts if part) or None


def link_between(link: DeviceLink) -> str:
    """How two GPUs are connected: "4 NVLinks", "PCIe host bridge"."""
    if link.nvlink_count:
        return f"{link.nvlink_count} NVLinks" if link.nvlink_count > 1 else "1 NVLink"
    return _LINKS[link.kind]
