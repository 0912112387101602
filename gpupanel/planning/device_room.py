"""What is free of one device, and what of it TensorFlow may take, before anything is planned."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import available_mib
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample


def free_mib(inventory: DeviceInventory, sample: TelemetrySample | None, key: str) -> int | None:
    """What is free now, or all that there is where that is not known."""
    reading = None if sample is None else sample.reading(key)
    if reading is not None and reading.memory_free_mib is not None:
        return reading.memory_free_mib
    device = inventory.device(key)
    return None if device is None else device.memory_total_mib


def room_mib(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None, key: str
) -> int | None:
    """What TensorFlow can have of a GPU under the profile's policy for it; ``None``: not known."""
    free, device = free_mib(inventory, sample, key), inventory.device(key)
    if free is None or device is None:
        return None
    allocator = profile.devices.allocator
    return available_mib(profile.memory_policy(key), allocator, free, device.compute_capability)
