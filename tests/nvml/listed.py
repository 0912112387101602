"""The GPUs of an opened library, for tests about their readings."""

from collections.abc import Iterator

from gpupanel.devices.nvml import GpuLostError, NvmlGpu, NvmlLibrary


def gpus_of(library: NvmlLibrary) -> Iterator[NvmlGpu]:
    """Those that can be reached, as NVML orders them."""
    for index in range(library.gpu_count()):
        try:
            gpu = library.gpu(index)
        except GpuLostError:
            continue
        if gpu is not None:
            yield gpu
