"""What TensorFlow refuses when it makes devices, as a problem."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from gpupanel.domain.problem import Problem, ProblemError

_GPU: Final = re.compile(r"cudaSetDevice\(\) on GPU:(\d+)")
"""CreateGPUDevice of gpu_device.cc (TensorFlow 2.21) names the one that CUDA makes no context on,
as CUDA numbers those that the process sees."""
_BUSY: Final = "busy or unavailable"
"""Part of CUDA's message for ``CUDA_ERROR_DEVICE_UNAVAILABLE`` (46)."""
_HELD: Final = (
    "Another process has the GPU, and its compute mode lets one at a time use it; or it lets none. "
    "The check of the profile says which."
)
_MEMORY: Final = "Choose other memory settings, or growth on every GPU."


@contextmanager
def refusals_told(devices: Sequence[PlannedDevice], *, joins: bool = False) -> Iterator[None]:
    """Report what is refused within.

    Args:
        devices: Of this process.
        joins: Within, it joins a cluster as well: what has nothing to do with a GPU goes through.

    Raises:
        ProblemError: TensorFlow refuses a device or a setting.
    """
    try:
        yield
    except Exception as error:
        gpu = refused_gpu(error, devices)
        if not _is_of_tensorflow(error) or (joins and gpu is None):
            raise
        raise ProblemError(refusal(error, gpu)) from error


def _is_of_tensorflow(error: Exception) -> bool:
    # Known by its name, so that TensorFlow need not be there.
    is_of_an_operation = any(kind.__name__ == "OpError" for kind in type(error).__mro__)
    return is_of_an_operation or isinstance(error, RuntimeError | ValueError)


def is_gpu_held(error: BaseException) -> bool:
    """Whether CUDA gives the process no GPU that another one has, by its compute mode."""
    return _BUSY in str(error)


def refused_gpu(error: BaseException, devices: Sequence[PlannedDevice]) -> PlannedDevice | None:
    """Which of these devices TensorFlow names; ``None``: none.

    Args:
        error: Its words.
        devices: Of the process.
    """
    found = _GPU.search(str(error))
    if found is None:
        return None
    gpus = (device for device in devices if device.kind is DeviceKind.GPU)
    return next((device for device in gpus if device.index == int(found[1])), None)


def refusal(error: BaseException, gpu: PlannedDevice | None) -> Problem:
    """The problem of devices that TensorFlow did not take as they were planned."""
    of_gpu = "" if gpu is None else f" of {gpu.name}"
    return Problem(
        code="devices_not_configured",
        field="devices",
        message=f"TensorFlow refused the device configuration{of_gpu}: "
        f"{str(error).splitlines()[0]}",
        hint=_HELD if is_gpu_held(error) else _MEMORY,
        detail=f"{type(error).__name__}: {error}",
    )
