"""Which physical devices a profile means on this machine."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import DeviceState, TelemetrySample


def chosen_devices(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None = None
) -> tuple[PhysicalDevice, ...]:
    """The devices that a profile names and this machine has, in the profile's order.

    A profile that names none means every GPU that answers, or the CPU where there is none. Never
    a GPU in MIG mode: only its instances compute.
    """
    if not profile.devices.visible:
        return answering_gpus(inventory, sample) or tuple(
            device for device in inventory.devices if device.key == CPU_KEY
        )
    named = (inventory.device(key) for key in dict.fromkeys(profile.devices.visible))
    return tuple(device for device in named if device is not None and not device.is_partitioned)


def answering_gpus(
    inventory: DeviceInventory, sample: TelemetrySample | None
) -> tuple[PhysicalDevice, ...]:
    """What can compute besides the CPU, by the latest readings."""
    return tuple(gpu for gpu in inventory.gpus if not is_lost(gpu.key, sample))


def is_lost(key: str, sample: TelemetrySample | None) -> bool:
    """Whether a device stopped answering, by the latest readings."""
    reading = sample.reading(key) if sample is not None else None
    return reading is not None and reading.state is DeviceState.LOST
