"""The one door to NVML: typed, and each reading can be absent on its own.

The only importer of the module ``pynvml`` (of the distribution nvidia-ml-py). Nothing of it gets
out: readings are plain numbers in the units their names say, or ``None`` where a GPU does not
report them (not supported, a symbol that the driver lacks, no permission, an answer that cannot
be true). Only two things are raised, since they are not about one reading: :class:`GpuLostError`
and :class:`DriverGoneError`.
"""

from gpupanel.devices.nvml.failures import DriverFailure, DriverGoneError, GpuLostError
from gpupanel.devices.nvml.gpu import NvmlGpu
from gpupanel.devices.nvml.library import NvmlLibrary
from gpupanel.devices.nvml.values import GpuMemory, GpuProcess, GpuUtilization, NvLinks

__all__ = [
    "DriverFailure",
    "DriverGoneError",
    "GpuLostError",
    "GpuMemory",
    "GpuProcess",
    "GpuUtilization",
    "NvLinks",
    "NvmlGpu",
    "NvmlLibrary",
]
