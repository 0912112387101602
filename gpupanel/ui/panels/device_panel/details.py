"""Which readings a GPU's details hold, and what each of them means."""

from collections.abc import Callable
from dataclasses import dataclass

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.ui import formatting
from gpupanel.ui.panels.device_panel import reading_text


@dataclass(frozen=True, slots=True)
class Detail:
    """One line of the details.

    Attributes:
        caption: What it is called.
        tip: What it means.
        words: The value as people read it, a dash where it is not known.
    """

    caption: str
    tip: str
    words: Callable[[PhysicalDevice, DeviceReading], str]


def _megahertz(value: int | None) -> str:
    return formatting.DASH if value is None else f"{value:,} MHz"


DETAILS = (
    Detail(
        "Clock",
        "Clock rate of the GPU's processors now.",
        lambda _, reading: _megahertz(reading.clock_mhz),
    ),
    Detail(
        "Memory clock",
        "Clock rate of the GPU's memory now.",
        lambda _, reading: _megahertz(reading.memory_clock_mhz),
    ),
    Detail(
        "Throttling",
        "Why the clocks are below their maximum. An idle GPU lowers them, too.",
        lambda _, reading: reading_text.throttling(reading.throttle_reasons),
    ),
    Detail(
        "Memory utilization",
        "Percent of the last moment in which the GPU's memory was read or written; not how "
        "full it is.",
        lambda _, reading: formatting.percent(reading.memory_utilization_percent),
    ),
    Detail(
        "Reserved by driver",
        "Memory that the driver reserves for itself: neither used nor free.",
        lambda _, reading: formatting.mib(reading.memory_reserved_mib),
    ),
    Detail(
        "Fan",
        "Intended speed of the fan, of several the fastest.",
        lambda _, reading: formatting.percent(reading.fan_percent),
    ),
    Detail(
        "Power limit",
        "The limit in force, and in brackets the default one and those that can be set. The menu "
        "beside the GPU's memory sets another one.",
        reading_text.power_limit,
    ),
    Detail(
        "Slowdown temperature",
        "From this temperature on the GPU lowers its clocks.",
        lambda device, _: formatting.celsius(device.temperature_slowdown_c),
    ),
    Detail(
        "Shutdown temperature",
        "At this temperature the GPU switches itself off.",
        lambda device, _: formatting.celsius(device.temperature_shutdown_c),
    ),
    Detail(
        "PCI Express now",
        "Generation and lanes of the link to the host. Idle GPUs lower it.",
        lambda _, reading: reading_text.pcie(reading.pcie_generation, reading.pcie_width),
    ),
    Detail(
        "PCI Express maximum",
        "What the GPU and its slot can do. A lower one while the GPU is busy means a poor slot, "
        "riser or setting.",
        lambda device, _: reading_text.pcie(device.pcie_generation_max, device.pcie_width_max),
    ),
    Detail(
        "Memory errors",
        "Errors in the GPU's memory since the driver was loaded: corrected and uncorrected. "
        "Only GPUs with ECC count them.",
        lambda _, reading: reading_text.memory_errors(reading),
    ),
    Detail(
        "Retired memory",
        "Memory pages or rows retired because of errors.",
        lambda _, reading: formatting.count(reading.retired_pages),
    ),
    Detail(
        "Architecture",
        "The GPU's generation with its compute capability, by which TensorFlow's kernels are "
        "chosen.",
        lambda device, _: reading_text.architecture(device),
    ),
    Detail(
        "PCI bus",
        "Where the GPU is plugged in.",
        lambda device, _: device.pci_bus_id or formatting.DASH,
    ),
)
