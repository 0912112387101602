"""GPUs on which no process may compute, or one at a time, as ``nvidia-smi -c`` sets them.

Of a GPU that is prohibited, or taken exclusively, CUDA makes no context (CUDA C++ Programming
Guide, "Compute Modes"): a run would start and fail at its first use of the GPU.
"""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_claim import claim_words
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.telemetry import ComputeMode, DeviceProcess
from gpupanel.planning.chosen_devices import keys_in_mode, lost_keys
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_other_gpus_here, on_the_cpu
from gpupanel.planning.other_processes import exclusive_holders
from gpupanel.planning.visible_gpus import default_gpus


def computing_prohibited(context: PlanningContext) -> Iterator[Problem]:
    """GPUs on which nobody may compute: chosen, or left out since the profile names none."""
    prohibited = keys_in_mode(context.known.sample, ComputeMode.PROHIBITED)
    chosen = [gpu for gpu in context.gpus if gpu.key in prohibited]
    meant = () if context.profile.devices.visible else default_gpus(context.inventory)
    left_out = [gpu for gpu in meant if gpu.key in prohibited and gpu not in context.gpus]
    concerned = chosen or left_out
    if not concerned:
        return
    fixes = _fixes(context, concerned) if chosen else ()
    yield Problem(
        code="gpu_compute_prohibited",
        severity=Severity.ERROR if chosen else Severity.WARNING,
        field="devices.visible",
        message=f"No process may compute on {_names(context, concerned)}: the compute mode is "
        f"“prohibited”{'' if chosen else ', and the run does without'}.",
        hint="Use another GPU, or let processes compute on it by the command.",
        command=_command(concerned),
        fix=fixes[0] if fixes else None,
        alternatives=fixes[1:],
    )


def held_by_one_process(context: PlanningContext) -> Iterator[Problem]:
    """Chosen GPUs that take one process at a time, and have one."""
    held = [gpu for gpu in context.gpus if exclusive_holders(context.known.sample, gpu.key)]
    if not held:
        return
    holders = {
        each.pid: each for gpu in held for each in exclusive_holders(context.known.sample, gpu.key)
    }
    named = ", ".join(_holder(process) for process in holders.values())
    claimed = [words for gpu in held if (words := _claimed(context, gpu.key))]
    since = f" ({'; '.join(dict.fromkeys(claimed))})" if claimed else ""
    fixes = _fixes(context, held)
    yield Problem(
        code="gpu_held_exclusively",
        severity=Severity.WARNING,
        field="devices.visible",
        message=f"{_names(context, held)}: the compute mode lets one process at a time use it, "
        f"and {named} has it now{since}. The run fails if that does not end before.",
        hint="Use another GPU, or wait: a run of the queue starts when it is free. The command "
        "lets several processes use it.",
        command=_command(held),
        fix=fixes[0] if fixes else None,
        alternatives=fixes[1:],
    )


def _holder(process: DeviceProcess) -> str:
    return f"{process.name or 'a process'} ({process.pid})"


def _claimed(context: PlanningContext, key: str) -> str:
    """What the gpupanel of another user says of a GPU, in words; empty where none does."""
    sample = context.known.sample
    reading = None if sample is None else sample.reading(key)
    return "" if sample is None or reading is None else claim_words(reading.claims, sample.time_s)


def _fixes(context: PlanningContext, unusable: list[PhysicalDevice]) -> tuple[Fix, ...]:
    """The other chosen GPUs, or others of this machine; and the CPU."""
    profile, chosen = context.profile, tuple(gpu.key for gpu in context.gpus)
    cpu = on_the_cpu(profile, chosen)
    others = [gpu.key for gpu in context.gpus if gpu not in unusable]
    if others:
        leave = f"Leave {_names(context, unusable)} out"
        return Fix.of(leave, "devices.visible", others), cpu
    gone = lost_keys(context.known.sample) | keys_in_mode(
        context.known.sample, ComputeMode.PROHIBITED
    )
    usable = {
        gpu.key
        for gpu in context.inventory.gpus
        if gpu.node == unusable[0].node
        and gpu.key not in gone
        and not exclusive_holders(context.known.sample, gpu.key)
    }
    other = on_other_gpus_here(profile, context.inventory, chosen, usable)
    return (cpu,) if other is None else (other, cpu)


def _command(gpus: list[PhysicalDevice]) -> str:
    return " && ".join(f"sudo nvidia-smi -i {gpu.pci_bus_id or gpu.key} -c DEFAULT" for gpu in gpus)


def _names(context: PlanningContext, gpus: list[PhysicalDevice]) -> str:
    return ", ".join(context.inventory.name_of(gpu.key) for gpu in gpus)
