"""What a device reports, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.devices import device_text
from gpupanel.devices.device_text import killed_sentence
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Severity
from gpupanel.domain.telemetry import DeviceReading, DeviceState, ThrottleReason
from gpupanel.ui import formatting

STALE_S = 2.0
"""Readings that are older than that are shown as old."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person should know of a device without asking.

    Attributes:
        severity: Decides the icon.
        words: So short that they fit beside the numbers.
        word: Shorter still, for a folded card.
        sentence: The same as a sentence.
    """

    severity: Severity
    words: str
    word: str
    sentence: str


_THROTTLED = {
    ThrottleReason.HARDWARE_THERMAL: Notice(
        Severity.ERROR,
        "Too hot",
        "Too hot",
        "The GPU is far too hot: its hardware throttles it. Check the cooling.",
    ),
    ThrottleReason.THERMAL: Notice(
        Severity.WARNING,
        "Throttled: heat",
        "Heat",
        "The GPU is throttled because of its temperature. Better cooling makes it faster.",
    ),
    ThrottleReason.HARDWARE_POWER_BRAKE: Notice(
        Severity.ERROR,
        "Power brake",
        "Power!",
        "The power supply requests a lower power draw: it may be too weak.",
    ),
    ThrottleReason.HARDWARE_SLOWDOWN: Notice(
        Severity.WARNING,
        "Throttled",
        "Slowed",
        "The hardware throttles the GPU because of heat or at the request of the power supply.",
    ),
    ThrottleReason.POWER_CAP: Notice(
        Severity.HINT,
        "Power limit",
        "Power",
        "The GPU is at its power limit; a higher limit would make it faster. This is usual "
        "for a busy GPU.",
    ),
}
"""What matters on a device at once, the gravest first."""


def notice(reading: DeviceReading | None) -> Notice | None:
    """What a person should know at once; ``None`` when all is as it should be."""
    if reading is None or reading.state is not DeviceState.OK:
        return None  # the card says it in words
    for process in reading.processes:
        if process.was_killed:
            return Notice(Severity.WARNING, "Killed process", "Killed", killed_sentence(process))
    if reading.age_s > STALE_S:
        old = f"{reading.age_s:,.0f} s old"
        return Notice(
            Severity.WARNING, old, old, f"These readings are {old}: the driver answers slowly."
        )
    reasons = reading.throttle_reasons or ()
    return next((words for reason, words in _THROTTLED.items() if reason in reasons), None)


def throttling(reasons: Sequence[ThrottleReason] | None) -> str:
    """Why the clocks are not as high as they could be."""
    return formatting.DASH if reasons is None else device_text.throttling(reasons)


def pcie(generation: int | None, width: int | None) -> str:
    """A PCI Express link: "gen 4 x16"."""
    return device_text.pcie_link(generation, width) or formatting.DASH


def power_limit(device: PhysicalDevice, reading: DeviceReading) -> str:
    """The limit in force, the default one and what can be set: "300 W (450 W; 10 to 600 W)"."""
    limit_w = device.power_limit_w if reading.power_limit_w is None else reading.power_limit_w
    if limit_w is None:
        return formatting.DASH
    least_w, most_w = device.power_limit_least_w, device.power_limit_most_w
    default_w = device.power_limit_default_w
    usual = "" if default_w is None else formatting.watts(default_w)
    bounds = "" if least_w is None else f"{least_w:.0f} to {formatting.watts(most_w)}"
    more = "; ".join(filter(None, (usual, bounds)))
    return f"{formatting.watts(limit_w)} ({more})" if more else formatting.watts(limit_w)


def architecture(device: PhysicalDevice) -> str:
    """Name of the generation and compute capability: "Ada Lovelace, 8.9"."""
    capability = device.compute_capability
    version = "" if capability is None else f"{capability[0]}.{capability[1]}"
    return ", ".join(part for part in (device.architecture, version) if part) or formatting.DASH


def memory_errors(reading: DeviceReading | None) -> str:
    """How many errors the GPU's memory had since the driver was loaded."""
    if reading is None or (reading.ecc_corrected, reading.ecc_uncorrected) == (None, None):
        return formatting.DASH
    corrected = formatting.count(reading.ecc_corrected)
    return f"{corrected} corrected, {formatting.count(reading.ecc_uncorrected)} uncorrected"


def about(device: PhysicalDevice) -> str:
    """All that never changes about a device, a line each."""
    lines = [device.name]
    if device.compute_capability is not None:
        major, minor = device.compute_capability
        lines.append(f"Compute capability {major}.{minor}")
    if device.core_count is not None:
        lines.append(f"{device.core_count} logical processors")
    if device.pci_bus_id is not None:
        lines.append(f"PCI bus {device.pci_bus_id}")
    if device.is_gpu:
        lines.append(device.key)
    return "\n".join(lines)
