"""What can be wrong with a GPU or with the driver as a whole, in NVML's numbers and in ours."""

from enum import Enum
from typing import Final

import pynvml

from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.visible_text import visible_line

_LOST: Final = frozenset({pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED})
# What will not change while the driver stays: such a reading is not asked for again.
_NEVER: Final = frozenset({pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND})


class DriverFailure(Enum):
    """Why the driver does not answer at all."""

    NO_LIBRARY = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    NOT_INITIALIZED = pynvml.NVML_ERROR_UNINITIALIZED
    NOT_LOADED = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    NO_PERMISSION = pynvml.NVML_ERROR_NO_PERMISSION
    VERSION_MISMATCH = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    UNKNOWN = pynvml.NVML_ERROR_UNKNOWN
    OTHER = -1


_GONE: Final = frozenset(
    failure.value
    for failure in (
        DriverFailure.NOT_INITIALIZED,
        DriverFailure.NOT_LOADED,
        DriverFailure.VERSION_MISMATCH,
    )
)


class GpuLostError(Exception):
    """This GPU does not answer: fallen off the bus, without power, in need of a reset.

    :attr:`failure` has what the driver said.
    """

    def __init__(self, failure: GpuFailure) -> None:
        super().__init__(failure.words)
        self.failure = failure


class DriverGoneError(Exception):
    """The driver does not answer; :attr:`failure` and :attr:`detail` say why."""

    def __init__(self, failure: DriverFailure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail


def driver_gone(error: pynvml.NVMLError) -> DriverGoneError:
    """The error of NVML, as one of the driver."""
    known = {failure.value: failure for failure in DriverFailure}
    return DriverGoneError(known.get(error.value, DriverFailure.OTHER), str(error))


def raise_if_driver_gone(error: pynvml.NVMLError) -> None:
    """Raise :class:`DriverGoneError` when the error says that no call will be answered."""
    if error.value in _GONE:
        raise driver_gone(error) from error


def raise_if_not_of_one_reading(error: pynvml.NVMLError) -> None:
    """Raise when the error is about more than the reading that was asked for.

    Raises:
        GpuLostError: The GPU does not answer.
        DriverGoneError: The driver does not answer.
    """
    if is_lost(error):
        raise gpu_lost(error) from error
    raise_if_driver_gone(error)


def gpu_lost(error: pynvml.NVMLError) -> GpuLostError:
    """The error of NVML, as one of the GPU that was asked."""
    return GpuLostError(GpuFailure(said=visible_line(str(error)), code=error.value))


def is_lost(error: pynvml.NVMLError) -> bool:
    """Whether the GPU fell off the bus, or needs a reset."""
    return error.value in _LOST


def is_not_for_this_user(error: pynvml.NVMLError) -> bool:
    """Whether the GPU is counted and given to others alone, such as by a container."""
    return bool(error.value == pynvml.NVML_ERROR_NO_PERMISSION)


def is_final(error: pynvml.NVMLError) -> bool:
    """Whether asking again is of no use while the driver stays."""
    return error.value in _NEVER
