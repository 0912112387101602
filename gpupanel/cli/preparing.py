"""From a profile's file to what would happen with it on this machine."""

from pathlib import Path

from gpupanel.cli.telling import progress
from gpupanel.devices.probes.tensorflow_build import tensorflow_build
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.description import described
from gpupanel.planning.mending import mended
from gpupanel.planning.preparation import Preparation
from gpupanel.planning.prepare import prepare
from gpupanel.runs.data_preview import preview_data
from gpupanel.runs.directory.profile_file import read_profile


def prepared(
    path: Path, *, look_at_data: bool = False, mend: bool = False
) -> tuple[Profile, Preparation]:
    """The profile in a file, and what would happen with it on this machine.

    Args:
        path: The file.
        look_at_data: Also tell what is wrong with the data.
        mend: Apply the fixes that are offered for errors and warnings first.

    Raises:
        ProblemError: The file holds no profile.
    """
    profile = read_profile(path)
    preview = preview_data(profile) if look_at_data else None
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory, sample = sampler.inventory(), sampler.sample()
    build = _build_for(chosen_devices(profile, inventory, sample))
    if mend:
        profile = described(mended(profile, inventory, sample, preview, build), inventory)
    return profile, prepare(profile, inventory, sample, preview, build)


def startable(path: Path) -> tuple[Profile, LaunchPlan, Preparation]:
    """A profile that may start, its plan, and what else there is to say.

    Raises:
        ProblemError: It may not start.
    """
    profile, preparation = prepared(path)
    if preparation.plan is None or not preparation.is_startable:
        raise ProblemError(*preparation.problems)
    return profile, preparation.plan, preparation


def _build_for(devices: tuple[PhysicalDevice, ...]) -> TensorFlowBuild | None:
    """What TensorFlow was built for, where a GPU is chosen: the CPU asks for no build."""
    if not any(device.is_gpu for device in devices):
        return None
    with progress.status("Asking TensorFlow what it was built for…"):
        return tensorflow_build()
