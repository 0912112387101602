"""Whether a profile can start on this machine as it is now, and what would happen then."""

from collections.abc import Callable
from dataclasses import dataclass

from gpupanel.devices.doctor.gpu_support import gpu_support
from gpupanel.devices.network_access import network_access
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.chosen_devices import answering_gpus, chosen_devices
from gpupanel.planning.description import described
from gpupanel.planning.prepare import Preparation, mended, prepare

AskSupport = Callable[[tuple[PhysicalDevice, ...], str | None], GpuSupport | None]
"""Asks TensorFlow about GPUs that answer, under that driver."""


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine at one moment: its devices, and what they report."""

    inventory: DeviceInventory
    sample: TelemetrySample | None = None


def look_at_machine() -> Machine:
    """Ask once; waits some seconds for drivers that must load first."""
    with DeviceSampler(wait_s=PATIENT_S, ask_network=network_access) as sampler:
        return Machine(sampler.inventory(), sampler.sample())


def prepared_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None = None,
    ask_support: AskSupport = gpu_support,
) -> Preparation:
    """What would happen with a profile on that machine, and everything that is wrong with it.

    Args:
        machine: As it was looked at.
        profile: What somebody chose.
        preview: What a look at the profile's data found, if somebody looked.
        ask_support: Asks which GPUs TensorFlow can use; only where one is chosen.
    """
    support = _support_for(machine, profile, ask_support)
    return prepare(profile, machine.inventory, machine.sample, preview, support)


def mended_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None = None,
    ask_support: AskSupport = gpu_support,
) -> Profile:
    """The profile with every fix that is offered for errors and warnings on that machine."""
    support = _support_for(machine, profile, ask_support)
    better = mended(profile, machine.inventory, machine.sample, preview, support)
    return described(better, machine.inventory)


def _support_for(machine: Machine, profile: Profile, ask_support: AskSupport) -> GpuSupport | None:
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    if not any(device.is_gpu for device in devices):
        return None
    gpus = answering_gpus(machine.inventory, machine.sample)
    return ask_support(gpus, machine.inventory.driver)
