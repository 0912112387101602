"""What devices report, in words that the window and the terminal share."""

from collections.abc import Sequence
from typing import Final

from gpupanel.domain.device import DeviceLink, LinkKind, UnresponsiveGpu
from gpupanel.domain.telemetry import DeviceProcess, ThrottleReason
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


def unresponsive_sentence(gpu: UnresponsiveGpu) -> str:
    """Why a GPU that is counted cannot be used, and what to do."""
    return f"{gpu.sentence}. {gpu.failure.advice}"


def killed_sentence(process: DeviceProcess) -> str:
    """What a process does to a GPU that was killed and does not end, and what to do."""
    who = visible_line(process.name or "A process")
    return (
        f"{who} ({process.pid}) was killed and does not end: it waits in the kernel, most likely "
        "for this GPU's driver, and what it holds stays taken. Use another GPU; if it is still "
        "there after some minutes, restart the machine."
    )


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
