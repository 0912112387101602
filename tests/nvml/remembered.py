"""Says that TensorFlow can use the GPUs of a stand-in, where a test is about something else.

No TensorFlow can: there is no CUDA behind a stand-in. A test about just that uses a cache of its
own, so that TensorFlow is really asked.
"""

import os

from gpupanel.devices.doctor.support_memory import remember_support, support_basis
from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from tests.nvml.standin import Standin

# As PyPI's TensorFlow 2.21 for Linux tells it.
TENSORFLOW_BUILD = TensorFlowBuild(
    version="2.21.0",
    is_cuda_build=True,
    cuda_version="12.5.1",
    compute_capabilities=("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
)


def remember_as_usable(standin: Standin) -> None:
    """For this process and for children of it, as the stand-in answers now."""
    state = standin.state
    whole = [gpu.uuid for gpu in state.gpus if not gpu.mig_mode and not gpu.lost]
    parts = [each.uuid for gpu in state.gpus for each in gpu.instances if gpu.mig_mode]
    gpus = tuple(PhysicalDevice(key=key, kind=DeviceKind.GPU, name=key) for key in (*whole, *parts))
    for environment in (os.environ, os.environ | standin.environment):
        basis = support_basis(gpus, state.driver, environment)
        remember_support(basis, GpuSupport(build=TENSORFLOW_BUILD))
