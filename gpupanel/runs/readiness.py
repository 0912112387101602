"""Whether a profile can start on this machine as it is now, and what would happen then."""

from collections.abc import Callable
from dataclasses import dataclass

from gpupanel.devices.network_access import network_access
from gpupanel.devices.probes.tensorflow_build import tensorflow_build
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.description import described
from gpupanel.planning.mending import mended
from gpupanel.planning.preparation import Preparation
from gpupanel.planning.prepare import prepare

AskBuild = Callable[[], TensorFlowBuild | None]


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
    ask_build: AskBuild = tensorflow_build,
) -> Preparation:
    """What would happen with a profile on that machine, and everything that is wrong with it.

    Args:
        machine: As it was looked at.
        profile: What somebody chose.
        preview: What a look at the profile's data found, if somebody looked.
        ask_build: Asks what TensorFlow was built for; only where a GPU is chosen.
    """
    build = _build_for(machine, profile, ask_build)
    return prepare(profile, machine.inventory, machine.sample, preview, build)


def mended_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None = None,
    ask_build: AskBuild = tensorflow_build,
) -> Profile:
    """The profile with every fix that is offered for errors and warnings on that machine."""
    build = _build_for(machine, profile, ask_build)
    better = mended(profile, machine.inventory, machine.sample, preview, build)
    return described(better, machine.inventory)


def _build_for(machine: Machine, profile: Profile, ask_build: AskBuild) -> TensorFlowBuild | None:
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    return ask_build() if any(device.is_gpu for device in devices) else None
