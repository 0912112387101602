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
            device for device in inventory.devices if device.key_on_node == CPU_KEY
        )
    named = {
        device.key: device
        for key in profile.devices.visible
        for device in inventory.named(key)
        if not device.is_partitioned
    }
    return _together(tuple(named.values()))


def _together(devices: tuple[PhysicalDevice, ...]) -> tuple[PhysicalDevice, ...]:
    """The devices of a node one after the other, as a process can only have those of one."""
    nodes = list(dict.fromkeys(device.node for device in devices))
    return tuple(sorted(devices, key=lambda device: nodes.index(device.node)))


def answering_gpus(
    inventory: DeviceInventory, sample: TelemetrySample | None
) -> tuple[PhysicalDevice, ...]:
    """What can compute besides the CPU, by the latest readings."""
    return tuple(gpu for gpu in inventory.gpus if not is_lost(gpu.key, sample))


def is_lost(key: str, sample: TelemetrySample | None) -> bool:
    """Whether a device stopped answering, by the latest readings."""
    reading = sample.reading(key) if sample is not None else None
    return reading is not None and reading.state is DeviceState.LOST
