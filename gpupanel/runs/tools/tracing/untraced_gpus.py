"""GPUs of which a trace holds nothing, and why: it shows what the host did, and that alone."""

from typing import Final

from gpupanel.devices.packages import install, tensorflow_package
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.trace import TracedDevice, TraceRecord
from gpupanel.domain.trace_text import is_gpu

_NO_RIGHT: Final = frozenset({"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "CUPTI_ERROR_NOT_INITIALIZED"})
"""The second one where the first was before it (TensorFlow then asks no more)."""
_NO_RIGHT_HINT: Final = (
    "The command allows it to everybody, from the next restart of the machine on (where the "
    "initial RAM disk holds the driver, after sudo update-initramfs -u). Or start gpupanel as an "
    "administrator; in a container as root with --cap-add=SYS_ADMIN."
)
_ALLOW: Final = (
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | "
    "sudo tee /etc/modprobe.d/nvidia-profiling.conf"
)
"""NVIDIA, "ERR_NVGPUCTRPERM: Permission issue with Performance Counters"."""


def gpus_not_traced(
    plan: LaunchPlan | None, record: TraceRecord, devices: tuple[TracedDevice, ...]
) -> Problem | None:
    """Why a trace holds nothing of the GPUs of its process; ``None``: it does, or there are none.

    Args:
        plan: Of the run; ``None``: not known.
        record: Of the trace.
        devices: What it says.
    """
    gang = () if plan is None else plan.gang
    planned = gang[record.process].devices if record.process < len(gang) else ()
    gpus = [each for each in planned if each.kind is DeviceKind.GPU]
    if not gpus or any(is_gpu(device) for device in devices):
        return None
    why, hint, command = _reason(record)
    return Problem(
        code="gpus_not_traced",
        severity=Severity.WARNING,
        message=f"The GPU{'s were' if len(gpus) > 1 else ' was'} not traced: {why}. What is listed "
        "is the work of the host.",
        hint=hint,
        command=command,
        detail=record.cupti_error,
    )


def _reason(record: TraceRecord) -> tuple[str, str, str]:
    """Why, what to do, and the command that does it."""
    if record.missing_cupti:
        name, version = tensorflow_package() or ("tensorflow", "")
        wanted = f"{name}[and-cuda]=={version}" if version else f"{name}[and-cuda]"
        return (
            f"TensorFlow does not find {record.missing_cupti}, NVIDIA's library for it",
            "Install it, resume the run and take another trace.",
            install(wanted),
        )
    if record.cupti_error in _NO_RIGHT:
        return (
            "this user has no right to profile them",
            _NO_RIGHT_HINT,
            _ALLOW,
        )
    if record.cupti_error:
        return (
            f"CUPTI, NVIDIA's library for it, failed ({record.cupti_error})",
            "trainer.log in the run's folder has the rest. Is another profiler at work?",
            "",
        )
    return ("the profiler saw no work of theirs", "Take another one of more steps.", "")
