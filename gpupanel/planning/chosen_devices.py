"""Which physical devices a profile means on this machine."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import DeviceState, TelemetrySample
from gpupanel.planning.on_the_cpu import on_the_cpu
from gpupanel.planning.replacement import same_on_what_is_here


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


def lost_devices(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None
) -> list[Problem]:
    """Chosen devices that stopped answering: named by the profile, or meant by naming none.

    CUDA hides every device that stands behind an invalid one in ``CUDA_VISIBLE_DEVICES``: a run
    would start on other devices than the plan says.
    """
    if not profile.devices.visible:
        return _left_out(profile, inventory, sample)
    lost = [key for key in profile.devices.visible if is_lost(key, sample)]
    if not lost:
        return []
    others = [key for key in profile.devices.visible if key not in lost]
    names = ", ".join(device.name for key in lost if (device := inventory.device(key)) is not None)
    return [
        Problem(
            code="device_lost",
            field="devices.visible",
            message=f"{names or lost[0]} stopped answering: it fell off the bus or its driver "
            "went away.",
            hint="Switch it off here; restarting the machine usually brings it back.",
            fix=Fix(
                label="Use the others",
                changes=(Change(path=("devices", "visible"), value=others),),
            )
            if others
            else on_the_cpu(profile, tuple(lost)),
        )
    ]


def _left_out(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None
) -> list[Problem]:
    """GPUs that a profile means that names no device: the others work without them.

    Who means every GPU does not mean the CPU where all of them are lost.
    """
    lost = [gpu for gpu in inventory.gpus if is_lost(gpu.key, sample)]
    if not lost:
        return []
    are_all = len(lost) == len(inventory.gpus)
    return [
        Problem(
            code="device_lost",
            severity=Severity.ERROR if are_all else Severity.WARNING,
            field="devices.visible",
            message=f"{', '.join(gpu.name for gpu in lost)} stopped answering: it fell off the bus "
            f"or its driver went away{'' if are_all else ', and is left out'}.",
            hint="Restarting the machine usually brings it back.",
            fix=on_the_cpu(profile, tuple(gpu.key for gpu in lost)) if are_all else None,
        )
    ]


def absent_devices(profile: Profile, inventory: DeviceInventory) -> list[Problem]:
    """Devices that the profile names and this machine has not."""
    absent = tuple(key for key in profile.devices.visible if inventory.device(key) is None)
    if not absent:
        return []
    return [
        Problem(
            code="device_not_found",
            field="devices.visible",
            message=f"{_listed(profile, absent)} not in this machine.",
            hint="Choose among the devices that are here, or put the device back.",
            fix=same_on_what_is_here(profile, inventory, absent),
        )
    ]


def _listed(profile: Profile, keys: tuple[str, ...]) -> str:
    known = profile.devices.described
    names = [f"{known[key].name} ({key})" if key in known else key for key in keys]
    return f"The device {names[0]} is" if len(names) == 1 else f"The devices {', '.join(names)} are"


def mixed_kinds(devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """CPU and GPUs chosen together: a step would wait for the CPU."""
    gpus = [device.key for device in devices if device.is_gpu]
    if not gpus or len(gpus) == len(devices):
        return []
    return [
        Problem(
            code="devices_mixed",
            field="devices.visible",
            message="The CPU and GPUs are chosen together, but replicas must be of one kind.",
            hint="Switch the CPU off; it feeds the GPUs in any case.",
            fix=Fix(
                label="Use the GPUs only",
                changes=(Change(path=("devices", "visible"), value=gpus),),
            ),
        )
    ]
