"""NVML itself: loaded, initialised, asked for its GPUs."""

import logging
from contextlib import suppress
from typing import Final

import pynvml

from gpupanel.devices.nvml.failures import (
    DriverFailure,
    DriverGoneError,
    driver_gone,
    gpu_lost,
    is_not_for_this_user,
    raise_if_driver_gone,
)
from gpupanel.devices.nvml.gpu import NvmlGpu
from gpupanel.devices.nvml.shutdown_guard import ShutdownGuard

_LOG = logging.getLogger(__name__)


_CLOSE_WAIT_S: Final = 1.0
"""Longer than a call takes with any driver that answers at all."""


class NvmlLibrary:
    """The driver's management library, loaded when it is first opened.

    Its GPUs may be asked in several threads; after :meth:`close` none of them asks NVML any more.
    """

    def __init__(self) -> None:
        self._guard: ShutdownGuard | None = None

    def open(self) -> None:
        """Load the library and initialise it.

        Raises:
            DriverGoneError: There is no library, no driver behind it, or no permission.
        """
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise driver_gone(error) from error
        self._guard = ShutdownGuard(_shut_down)

    def close(self) -> None:
        """Let the library go; it may be opened again. Never fails.

        Waits a second at most for calls that are under way in other threads; where one lasts
        longer, NVML is shut down when it comes back.
        """
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close(_CLOSE_WAIT_S)

    def driver_version(self) -> str | None:
        """The driver's version ("570.86.15")."""
        try:
            with self._guard_of_open_library():
                version: str = pynvml.nvmlSystemGetDriverVersion()
        except (pynvml.NVMLError, UnicodeDecodeError) as error:
            _LOG.debug("The driver does not report its version: %s", error)
            return None
        return version

    def cuda_version(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver can run, major and minor."""
        try:
            with self._guard_of_open_library():
                number: int = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError as error:
            _LOG.debug("The driver does not report its CUDA version: %s", error)
            return None
        return number // 1000, number % 1000 // 10

    def gpu_count(self) -> int:
        """How many GPUs the driver lists, lost ones included.

        Raises:
            DriverGoneError: The driver does not answer.
        """
        try:
            with self._guard_of_open_library():
                return int(pynvml.nvmlDeviceGetCount())
        except pynvml.NVMLError as error:
            raise driver_gone(error) from error

    def gpu(self, index: int) -> NvmlGpu | None:
        """A GPU by NVML's number, which is its place on the PCI bus.

        Getting hold of a GPU initialises it, and may take long where it is sick.

        Returns:
            ``None``: it is not for this user (a container, a MIG-only grant), or not there any
            more.

        Raises:
            GpuLostError: It is counted, but cannot be reached.
            DriverGoneError: The driver does not answer.
        """
        guard = self._guard_of_open_library()
        try:
            with guard:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError as error:
            raise_if_driver_gone(error)
            if is_not_for_this_user(error) or error.value == pynvml.NVML_ERROR_INVALID_ARGUMENT:
                _LOG.debug("GPU %d is left out: %s", index, error)
                return None
            raise gpu_lost(error) from error
        return NvmlGpu(handle, guard)

    def _guard_of_open_library(self) -> ShutdownGuard:
        if self._guard is None:
            raise DriverGoneError(DriverFailure.NOT_INITIALIZED, "NVML is not initialised")
        return self._guard


def _shut_down() -> None:
    # Whatever it answers there is nothing left to give back.
    with suppress(pynvml.NVMLError):
        pynvml.nvmlShutdown()
