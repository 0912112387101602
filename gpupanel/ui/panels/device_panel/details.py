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
        "How fast the GPU's processors work now.",
        lambda _, reading: _megahertz(reading.clock_mhz),
    ),
    Detail(
        "Memory clock",
        "How fast the GPU's memory works now.",
        lambda _, reading: _megahertz(reading.memory_clock_mhz),
    ),
    Detail(
        "Held back by",
        "Why the clocks are not as high as they could be. A GPU with nothing to do lowers them.",
        lambda _, reading: reading_text.held_back_by(reading.throttle_reasons),
    ),
    Detail(
        "Memory busy",
        "Percent of the last moment in which the GPU's memory was read or written; it does not "
        "say how full it is.",
        lambda _, reading: formatting.percent(reading.memory_utilization_percent),
    ),
    Detail(
        "Kept by the driver",
        "Memory that the driver keeps for itself: neither used nor free.",
        lambda _, reading: formatting.mib(reading.memory_reserved_mib),
    ),
    Detail(
        "Fan",
        "Intended speed of the fan, of several the fastest.",
        lambda _, reading: formatting.percent(reading.fan_percent),
    ),
    Detail(
        "Slows down at",
        "The temperature from which the GPU lowers its clocks.",
        lambda device, _: formatting.celsius(device.temperature_slowdown_c),
    ),
    Detail(
        "Shuts down at",
        "The temperature at which the GPU switches itself off.",
        lambda device, _: formatting.celsius(device.temperature_shutdown_c),
    ),
    Detail(
        "PCI Express now",
        "Generation and lanes of the link to the host. GPUs lower it while they have nothing to "
        "do.",
        lambda _, reading: reading_text.pcie(reading.pcie_generation, reading.pcie_width),
    ),
    Detail(
        "PCI Express at most",
        "What the GPU and its slot can do. A lower one while the GPU is busy means a poor slot, "
        "riser or setting.",
        lambda device, _: reading_text.pcie(device.pcie_generation_max, device.pcie_width_max),
    ),
    Detail(
        "Memory errors",
        "Errors in the GPU's memory since the driver was loaded: those that were mended, and "
        "those that were not. Only GPUs with ECC count them.",
        lambda _, reading: reading_text.memory_errors(reading),
    ),
    Detail(
        "Retired memory",
        "Pages or rows of memory taken out of use for good, for their errors.",
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
