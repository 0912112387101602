"""Says what became of the NVIDIA driver so that a person can act on it."""

from pathlib import Path
from typing import Final, assert_never

from gpupanel.devices.nvml import DriverFailure, DriverGoneError
from gpupanel.domain.problem import Problem, Severity

_KERNEL_DRIVER: Final = Path("/proc/driver/nvidia/version")
_WORDS: Final = {
    DriverFailure.NO_LIBRARY: (
        "The NVIDIA driver is loaded, but its library libnvidia-ml.so.1 is not found.",
        "Install the driver's user part of the same version.",
    ),
    DriverFailure.NOT_LOADED: (
        "The NVIDIA driver is installed but not loaded.",
        "Run `sudo modprobe nvidia`, or restart the machine.",
    ),
    DriverFailure.VERSION_MISMATCH: (
        "The NVIDIA driver was updated while the old one still runs.",
        "Restart the machine.",
    ),
    DriverFailure.NO_PERMISSION: (
        "You may not use the NVIDIA driver.",
        "Ask for access to /dev/nvidiactl and /dev/nvidia* (often the group video or render).",
    ),
}


def driver_problem(gone: DriverGoneError, kernel_driver: Path = _KERNEL_DRIVER) -> Problem | None:
    """Why no GPU can be read; ``None`` on a machine without an NVIDIA driver.

    Args:
        gone: What NVML said.
        kernel_driver: The file that the loaded kernel module shows.
    """
    match gone.failure:
        case DriverFailure.NO_LIBRARY if not kernel_driver.exists():
            return None
        case (
            DriverFailure.NO_LIBRARY
            | DriverFailure.NOT_LOADED
            | DriverFailure.VERSION_MISMATCH
            | DriverFailure.NO_PERMISSION
        ):
            message, hint = _WORDS[gone.failure]
        case DriverFailure.NOT_INITIALIZED | DriverFailure.OTHER:
            message = f"The NVIDIA driver does not answer: {gone.detail}."
            hint = "See what nvidia-smi says; often a restart of the machine helps."
        case _:
            assert_never(gone.failure)
    return Problem(
        code="nvidia_driver_not_answering",
        severity=Severity.WARNING,
        message=message,
        hint=hint,
        detail=gone.detail,
    )
