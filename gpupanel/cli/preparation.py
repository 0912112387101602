"""From a profile's file to what would happen with it on this machine."""

from functools import cache
from pathlib import Path

from gpupanel.cli.output import progress
from gpupanel.devices.doctor.gpu_support import gpu_support
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import preview_request
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import Preparation
from gpupanel.runs import found_data
from gpupanel.runs.data_preview import preview_data
from gpupanel.runs.directory.profile_file import anchored, read_profile
from gpupanel.runs.readiness import mended_on, prepared_on, read_machines_for


def prepared(
    path: Path, *, with_preview: bool = False, mend: bool = False
) -> tuple[Profile, Preparation]:
    """The profile in a file, and what would happen with it on this machine.

    Args:
        path: The file.
        with_preview: Also report what is wrong with the data.
        mend: Apply the fixes that are offered for errors and warnings first.

    Raises:
        ProblemError: The file holds no profile, or its cluster cannot be asked.
    """
    profile = read_profile(path)
    preview = None
    if with_preview:
        preview = preview_data(preview_request(anchored(profile, Path.cwd())))
    machine = read_machines_for(profile)
    # What could not be used would be asked about again, which takes seconds.
    ask_support = cache(_ask_support)
    if mend:
        profile = mended_on(machine, profile, preview, ask_support)
    return profile, prepared_on(machine, profile, preview, ask_support)


def startable(path: Path) -> tuple[Profile, LaunchPlan, Preparation]:
    """A profile that may start, its plan, and what else there is to say.

    Raises:
        ProblemError: It may not start.
    """
    profile, preparation = prepared(path)
    if preparation.plan is None or not preparation.is_startable:
        raise ProblemError(*preparation.problems)
    return profile, preparation.plan, preparation


def with_found_data(profile: Profile) -> Profile:
    """The profile with all chosen that a preview of its data finds by itself.

    Raises:
        ProblemError: The data cannot be read.
    """
    return found_data.with_found_data(profile, preview_data)


def _ask_support(gpus: tuple[PhysicalDevice, ...], driver: str | None) -> GpuSupport:
    with progress.status("Checking whether TensorFlow can use the GPUs…"):
        return gpu_support(gpus, driver)
