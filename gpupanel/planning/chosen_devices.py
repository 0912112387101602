"""Which physical devices a profile means on this machine."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import ComputeMode, DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.visible_gpus import default_gpus


def chosen_devices(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None = None
) -> tuple[PhysicalDevice, ...]:
    """The devices that a profile names and this machine has, in the profile's order.

    A profile that names none means every GPU that answers and may compute, as far as the shell
    does not say which ones by ``CUDA_VISIBLE_DEVICES``; the CPU where there is none. Never a GPU in
    MIG mode: only its instances compute.
    """
    if not profile.devices.visible:
        left_out = left_out_keys(inventory, sample)
        gpus = tuple(gpu for gpu in default_gpus(inventory) if gpu.key not in left_out)
        return gpus or tuple(
            device for device in inventory.devices if device.key_on_node == CPU_KEY
        )
    by_key: dict[str, list[PhysicalDevice]] = {}
    for device in inventory.devices:
        for key in {device.key, device.key_on_node}:
            by_key.setdefault(key, []).append(device)
    named = {
        device.key: device
        for key in profile.devices.visible
        for device in by_key.get(key, ())
        if not device.is_partitioned
    }
    return _together(tuple(named.values()))


def _together(devices: tuple[PhysicalDevice, ...]) -> tuple[PhysicalDevice, ...]:
    """The devices of a node one after the other, as a process can only have those of one."""
    nodes = dict.fromkeys(device.node for device in devices)
    places = {node: place for place, node in enumerate(nodes)}
    return tuple(sorted(devices, key=lambda device: places[device.node]))


def answering_gpus(
    inventory: DeviceInventory, sample: TelemetrySample | None
) -> tuple[PhysicalDevice, ...]:
    """What can compute besides the CPU, by the latest readings."""
    lost = lost_keys(sample)
    return tuple(gpu for gpu in inventory.gpus if gpu.key not in lost)


def awake_gpus(
    inventory: DeviceInventory, sample: TelemetrySample | None
) -> tuple[PhysicalDevice, ...]:
    """Those that may be asked by more than their driver: what starts CUDA wakes all it sees."""
    readings = () if sample is None else sample.readings
    asleep = {each.key for each in readings if each.state is DeviceState.ASLEEP}
    return tuple(gpu for gpu in answering_gpus(inventory, sample) if gpu.key not in asleep)


def left_out_keys(inventory: DeviceInventory, sample: TelemetrySample | None) -> frozenset[str]:
    """The GPUs that are not meant by naming none: they do not answer, or must not compute.

    Where no other may compute a rule says so: who means GPUs does not mean the CPU.
    """
    lost, prohibited = lost_keys(sample), keys_in_mode(sample, ComputeMode.PROHIBITED)
    others = {gpu.key for gpu in default_gpus(inventory)} - lost - prohibited
    return lost | prohibited if others else lost


def keys_in_mode(sample: TelemetrySample | None, mode: ComputeMode) -> frozenset[str]:
    """The GPUs that are in a compute mode, by the latest readings."""
    readings = () if sample is None else sample.readings
    return frozenset(each.key for each in readings if each.compute_mode is mode)


def lost_keys(sample: TelemetrySample | None) -> frozenset[str]:
    """The devices that stopped answering, by the latest readings."""
    return frozenset(each.key for each in lost_readings(sample))


def lost_readings(sample: TelemetrySample | None) -> tuple[DeviceReading, ...]:
    """The readings of devices that stopped answering, with why where it is known."""
    readings = () if sample is None else sample.readings
    return tuple(
        each for each in readings if each.state in (DeviceState.LOST, DeviceState.NO_ANSWER)
    )
