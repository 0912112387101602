"""Says what became of the NVIDIA driver so that a person can act on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from gpupanel.devices.nvml import DriverFailure, DriverGoneError
from gpupanel.domain.problem import Problem, Severity

_KERNEL_DRIVER: Final = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True, slots=True)
class _Words:
    message: str
    hint: str
    command: str = ""


_WORDS: Final = {
    DriverFailure.NO_LIBRARY: _Words(
        "The NVIDIA driver is loaded, but its library libnvidia-ml.so.1 is not found.",
        "Install the driver's user part of the same version.",
    ),
    DriverFailure.NOT_LOADED: _Words(
        "The NVIDIA driver is installed but not loaded.",
        "Load it, or restart the machine.",
        "sudo modprobe nvidia",
    ),
    DriverFailure.VERSION_MISMATCH: _Words(
        "The NVIDIA driver was updated while the old one still runs.",
        "Restart the machine.",
        "sudo reboot",
    ),
    DriverFailure.NO_PERMISSION: _Words(
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
            words = _WORDS[gone.failure]
        case DriverFailure.UNKNOWN:
            words = _Words(
                f"The NVIDIA driver does not answer: {gone.detail}.",
                "In a container: restart the container. Its devices were taken away from it, as "
                "happens when the system's services are reloaded (systemctl daemon-reload). "
                "Elsewhere: run nvidia-smi to see why; restarting the machine often helps.",
            )
        case DriverFailure.NOT_INITIALIZED | DriverFailure.OTHER:
            words = _Words(
                f"The NVIDIA driver does not answer: {gone.detail}.",
                "Run nvidia-smi to see why; restarting the machine often helps.",
            )
        case _:
            assert_never(gone.failure)
    return Problem(
        code="nvidia_driver_not_answering",
        severity=Severity.WARNING,
        message=words.message,
        hint=words.hint,
        command=words.command,
        detail=gone.detail,
    )
