"""A device as scripts read it."""

from typing import Any

from gpupanel.domain.device import DeviceInventory, PhysicalDevice, UnresponsiveGpu
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample


def device_document(
    device: PhysicalDevice, inventory: DeviceInventory, sample: TelemetrySample
) -> dict[str, Any]:
    """What is known of a device: what does not change about it, and what it reports.

    Where both have the same, its memory and its power limit, the newer holds if it is known.
    """
    reading = sample.reading(device.key) or DeviceReading(key=device.key)
    facts = device.model_dump(mode="json", exclude={"node"})  # said of the node, where there are
    found = reading.model_dump(mode="json")
    newer = {name: value for name, value in found.items() if value is not None or name not in facts}
    links = [
        {
            "key": next(key for key in link.keys if key != device.key),
            "kind": link.kind.value,
            "nvlink_count": link.nvlink_count,
        }
        for link in inventory.links
        if device.key in link.keys
    ]
    return {**facts, **newer, "links": links}


def unresponsive_document(gpu: UnresponsiveGpu) -> dict[str, Any]:
    """A GPU that is counted and does not answer: what is known of it, why, and what to do."""
    return {**gpu.model_dump(mode="json"), "advice": gpu.failure.advice}
