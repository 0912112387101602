"""The devices of this machine, as everything that watches them reads them."""

import os
from pathlib import Path

from gpupanel.devices.doctor.spoiled_import import packages_of_elsewhere
from gpupanel.devices.network_access import network_access
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.devices.shell_limits import shell_limits
from gpupanel.domain.inherited_variables import reported_variables
from gpupanel.planning.visible_gpus import cuda_variables_of


def machine_devices(
    folder: Path | None = None, *, wait_s: float = 0.0, wakes: bool = False
) -> DeviceSampler:
    """A sampler of this machine's devices; cheap: the driver is asked by it later.

    Args:
        folder: Samples report how full its disk is.
        wait_s: How long a sample waits for what is slow.
        wakes: Ask sleeping GPUs, too, which wakes them.
    """
    return DeviceSampler(
        folder=folder,
        wait_s=wait_s,
        ask_network=network_access,
        cuda_variables=cuda_variables_of(os.environ),
        shell_variables=reported_variables(os.environ),
        environment_problems=(*packages_of_elsewhere(), *shell_limits()),
        wakes=wakes,
    )
