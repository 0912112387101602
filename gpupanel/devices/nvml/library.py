"""NVML itself: loaded, initialised, asked for its GPUs."""

import logging
from collections.abc import Iterator
from contextlib import suppress

import pynvml

from gpupanel.devices.nvml.failures import driver_gone, raise_if_driver_gone
from gpupanel.devices.nvml.gpu import NvmlGpu

_LOG = logging.getLogger(__name__)


class NvmlLibrary:
    """The driver's management library, loaded when it is first opened."""

    def open(self) -> None:
        """Load the library and initialise it.

        Raises:
            DriverGoneError: There is no library, no driver behind it, or no permission.
        """
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise driver_gone(error) from error

    def close(self) -> None:
        """Let the library go; it may be opened again. Never fails."""
        # Whatever it answers there is nothing left to give back.
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()

    def driver_version(self) -> str | None:
        """The driver's version ("570.86.15")."""
        try:
            version: str = pynvml.nvmlSystemGetDriverVersion()
        except (pynvml.NVMLError, UnicodeDecodeError) as error:
            _LOG.debug("The driver does not tell its version: %s", error)
            return None
        return version

    def cuda_version(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver can run, major and minor."""
        try:
            number: int = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError as error:
            _LOG.debug("The driver does not tell its CUDA version: %s", error)
            return None
        return number // 1000, number % 1000 // 10

    def gpu_count(self) -> int:
        """How many GPUs the driver lists, lost ones included.

        Raises:
            DriverGoneError: The driver does not answer.
        """
        try:
            return int(pynvml.nvmlDeviceGetCount())
        except pynvml.NVMLError as error:
            raise driver_gone(error) from error

    def gpus(self) -> Iterator[NvmlGpu]:
        """The GPUs that can be reached, as NVML orders them: by PCI bus.

        Raises:
            DriverGoneError: The driver does not answer.
        """
        for index in range(self.gpu_count()):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            except pynvml.NVMLError as error:
                raise_if_driver_gone(error)
                # Lost, or not for this user (a container, a MIG-only grant): others go on.
                _LOG.debug("GPU %d cannot be reached: %s", index, error)
                continue
            yield NvmlGpu(handle)
