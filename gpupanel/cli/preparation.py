"""Reads a profile's file and plans its run on this machine."""

import os
from functools import cache
from pathlib import Path

from gpupanel.cli.output import progress
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.profile_file import anchored, read_profile
from gpupanel.runs.questions import detected_data
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.readiness import (
    Machine,
    ask_doctor,
    mended_on,
    prepared_on,
    read_machine,
    read_machines_for,
)


def prepared(
    profile: Profile | Path, *, with_preview: bool = False, mend: bool = False
) -> tuple[Profile, Preparation]:
    """A profile, and what would happen with it on this machine.

    Args:
        profile: It, or its file.
        with_preview: Also report what is wrong with the data.
        mend: Apply the fixes that are offered for errors and warnings first.

    Raises:
        ProblemError: The file holds no profile, or its cluster cannot be asked.
    """
    if isinstance(profile, Path):
        profile = read_profile(profile)
    preview = None
    if with_preview and profile.script is None:
        preview = preview_data(preview_request(anchored(profile, Path.cwd())))
    machine = read_machines_for(profile)
    # What could not be used would be asked about again, which takes seconds.
    ask_support = cache(_ask_support)
    if mend:
        profile = mended_on(machine, profile, preview, ask_support)
    return profile, prepared_on(machine, profile, preview, ask_support)


def startable(profile: Profile | Path) -> tuple[Profile, LaunchPlan, Preparation]:
    """A profile that may start, its plan, and what else there is to say.

    Raises:
        ProblemError: It may not start.
    """
    return _startable(*prepared(profile))


def startable_as_allocated(profile: Profile) -> tuple[Profile, LaunchPlan, Preparation]:
    """The same on the GPUs that a batch system has given to this job.

    Raises:
        ProblemError: It may not start, or there is no GPU where it names some.
    """
    # Only jobs of a batch system need these.
    from gpupanel.planning.allocated_devices import on_allocated
    from gpupanel.planning.visible_gpus import cuda_variables_of
    from gpupanel.runs.slurm.job_nodes import is_job_of_several_nodes

    if is_job_of_several_nodes():
        return _startable_on_nodes(profile)
    machine = read_machine()
    visible = cuda_variables_of(os.environ).visible_devices
    moved, hints = on_allocated(profile, machine.inventory, visible)
    preparation = prepared_on(machine, moved, ask_support=_ask_support)
    problems = (*preparation.problems, *hints)
    return _startable(moved, preparation.model_copy(update={"problems": problems}))


def _startable_on_nodes(profile: Profile) -> tuple[Profile, LaunchPlan, Preparation]:
    from gpupanel.planning.job_nodes import on_nodes, sample_of_nodes, with_addresses
    from gpupanel.runs.slurm.job_nodes import read_nodes

    with progress.status("Asking the nodes of this job…"):
        nodes = read_nodes()
    moved, inventory, hints = on_nodes(profile, nodes)
    preparation = prepared_on(Machine(inventory, sample_of_nodes(nodes)), moved)
    problems = (*preparation.problems, *hints)
    read, plan, prepared_there = _startable(
        moved, preparation.model_copy(update={"problems": problems})
    )
    return read, with_addresses(plan, nodes), prepared_there


def _startable(
    profile: Profile, preparation: Preparation
) -> tuple[Profile, LaunchPlan, Preparation]:
    if preparation.plan is None or not preparation.is_startable:
        raise ProblemError(*preparation.problems)
    return profile, preparation.plan, preparation


def with_detected_data(profile: Profile) -> Profile:
    """The profile with everything filled in that a preview of its data detects.

    Raises:
        ProblemError: The data cannot be read.
    """
    return detected_data.with_detected_data(profile, preview_data)


def _ask_support(gpus: tuple[PhysicalDevice, ...], driver: str | None) -> GpuSupport:
    with progress.status("Checking whether TensorFlow can use the GPUs…"):
        return ask_doctor(gpus, driver)
