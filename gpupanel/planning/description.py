"""What the GPUs are that a profile names, kept in the profile for other machines."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import DEFAULT_MEMORY_KEY
from gpupanel.domain.profile import DeviceDescription, Profile


def described(profile: Profile, inventory: DeviceInventory) -> Profile:
    """The profile with a description of each GPU that it names.

    GPUs that are not in this machine keep the description that they have; those that are not
    named any more lose theirs.
    """
    named = dict.fromkeys((*profile.devices.visible, *profile.memory))
    descriptions = {}
    for key in named:
        device = inventory.device(key)
        if key in (CPU_KEY, DEFAULT_MEMORY_KEY):
            continue
        if device is not None:
            descriptions[key] = DeviceDescription(
                name=device.name, memory_total_mib=device.memory_total_mib
            )
        elif key in profile.devices.described:
            descriptions[key] = profile.devices.described[key]
    devices = profile.devices.model_copy(update={"described": descriptions})
    return profile.model_copy(update={"devices": devices})
