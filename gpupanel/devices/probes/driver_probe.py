"""Asks the NVIDIA driver about itself, in a child process with a time limit.

A driver in trouble may not answer at all, and a process that waits for it cannot go on.
``python -m gpupanel.devices.probes.driver_probe`` is the child.
"""

import os
import signal
import sys
from collections.abc import Sequence
from threading import Event
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildAnswer, ChildEnd, ask_child
from gpupanel.devices.gpus.registry import GpuRegistry
from gpupanel.devices.slow_calls import SlowCall, SlowCallThreads
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.device import PhysicalDevice, UnresponsiveGpu
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.value import Value

PROBE_COMMAND: Final = python_module_command("gpupanel.devices.probes.driver_probe")
TIME_LIMIT_S: Final = 30.0
"""A driver that is woken for the first time takes seconds for each GPU."""
_PATIENCE_S: Final = 20.0
"""How much of it GPUs have that answer slowly, so that those that do not are reported in time."""
_REFRESH: Final = "refresh"


class DriverFacts(Value):
    """What the driver reports.

    Attributes:
        version: ``None`` where none answers.
        cuda_version: The newest CUDA that it can run.
        problem: Why it does not answer although one is expected.
        gpus: As NVML lists them, MIG instances behind their GPU.
        unresponsive: Those that NVML counts and that do not answer.
    """

    version: str | None = None
    cuda_version: tuple[int, int] | None = None
    problem: Problem | None = None
    gpus: tuple[PhysicalDevice, ...] = ()
    unresponsive: tuple[UnresponsiveGpu, ...] = ()


def ask_driver(
    command: Sequence[str] = PROBE_COMMAND,
    time_limit_s: float = TIME_LIMIT_S,
    cancelled: Event | None = None,
) -> DriverFacts:
    """Start the probe and wait for its answer; never raises for what the driver does.

    Args:
        command: Writes :class:`DriverFacts` to stdout.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
    """
    try:
        child = ask_child(command, time_limit_s, cancelled)
    except OSError as error:
        return DriverFacts(problem=_not_asked(error.strerror or "", str(error)))
    match child.end:
        case ChildEnd.BY_ITSELF:
            return _interpret(child)
        case ChildEnd.TIME_WAS_UP:
            return DriverFacts(problem=_hangs(time_limit_s, child.log))
        case ChildEnd.CANCELLED:
            return DriverFacts()


def driver_facts(registry: GpuRegistry | None = None) -> DriverFacts:
    """Ask the driver in this process; a GPU for which it does not come back is left behind.

    Args:
        registry: The GPUs; closed afterwards.
    """
    threads = SlowCallThreads()
    registry = registry or GpuRegistry(make_calls=threads.make_calls, wakes=True)
    try:
        threads.make_calls([SlowCall(_REFRESH, registry.refresh)])
        threads.wait_until(lambda: not threads.is_busy(_REFRESH), TIME_LIMIT_S)
        threads.wait_until(lambda: not registry.is_introducing, _PATIENCE_S)
        return DriverFacts(
            version=registry.driver,
            cuda_version=registry.cuda_version,
            problem=registry.problem,
            gpus=tuple(gpu.device for gpu in registry.gpus),
            unresponsive=registry.unresponsive,
        )
    finally:
        registry.close()
        threads.close(0.0)


def _interpret(child: ChildAnswer) -> DriverFacts:
    exit_code = child.exit_code or 0
    if exit_code < 0:
        name = signal.strsignal(-exit_code) or f"signal {-exit_code}"
        return DriverFacts(problem=_crashes(name, child.log))
    try:
        return DriverFacts.model_validate_json(child.output)
    except ValidationError:
        return DriverFacts(problem=_not_asked(f"exit status {exit_code}", child.log))


def _hangs(time_limit_s: float, log: str) -> Problem:
    return Problem(
        code="nvidia_driver_hangs",
        message=f"The NVIDIA driver does not answer within {time_limit_s:.0f} seconds.",
        hint="Restart the machine; see what the kernel wrote about it with "
        "`sudo dmesg | grep -i nvrm`.",
        command="sudo reboot",
        detail=log,
    )


def _crashes(how: str, log: str) -> Problem:
    return Problem(
        code="nvidia_driver_crashes",
        message=f"The NVIDIA driver's library crashes when it is asked for its GPUs ({how}).",
        hint="Reinstall the driver, all parts of the same version, and restart the machine.",
        detail=log,
    )


def _not_asked(why: str, detail: str) -> Problem:
    return Problem(
        code="nvidia_driver_not_asked",
        severity=Severity.WARNING,
        message=f"The process that checks the NVIDIA driver gave no answer ({why}).",
        hint="Free some memory or process slots, and try again.",
        detail=detail,
    )


if __name__ == "__main__":
    sys.stdout.write(driver_facts().model_dump_json())
    sys.stdout.flush()
    # A thread that the driver holds up must not hold up the end.
    os._exit(0)
