"""What ``CUDA_VISIBLE_DEVICES`` of the shell changes about a run, and what it does not."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.visible_gpus import VISIBLE_DEVICES_VARIABLE, visible_gpus

_MEANS_NONE: Final = frozenset({"", "-1", "NoDevFiles", "none", "void"})
"""What people and batch systems write to leave no GPU."""


def hidden_gpus(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that a profile does not mean that names no device, since the shell hides them."""
    inventory, visible = context.inventory, visible_gpus(context.inventory)
    if context.profile.devices.visible or visible is None or not inventory.gpus:
        return
    hidden = [gpu for gpu in inventory.gpus if gpu not in visible.gpus]
    # Where it names none at all, that was meant, or the first entry is a mistake.
    is_wrong = visible.wrong_entry not in _MEANS_NONE
    if not hidden and not is_wrong:
        return
    takes = f"uses {_names(inventory, visible.gpus)}" if visible.gpus else "is on the CPU"
    leaves = f" and leaves out {_names(inventory, hidden)}" if hidden else ""
    entry = visible_beginning(visible.wrong_entry)
    why = f' CUDA reads no further than "{entry}", which names no GPU.'
    if visible.is_repeated:
        why = f' "{entry}" names a GPU for the second time, and CUDA leaves none then.'
    yield Problem(
        code="gpus_hidden_by_shell",
        severity=Severity.WARNING if is_wrong else Severity.HINT,
        field="devices.visible",
        message=f"{_setting(inventory)}: the run {takes}{leaves}." + (why if is_wrong else ""),
        hint="Ask Slurm for GPUs, as by #SBATCH --gres=gpu:1; those of the node may be other "
        "people's."
        if _job_has_none(inventory)
        else "Name the devices in the profile to use others than the shell says.",
    )


def numbers_not_sure(context: PlanningContext) -> Iterator[Problem]:
    """Numbers of GPUs that CUDA may count in another order than NVML does."""
    inventory, visible = context.inventory, visible_gpus(context.inventory)
    if context.profile.devices.visible or visible is None or visible.is_sure:
        return
    if not context.gpus:
        return  # they do not answer, which another rule says
    yield Problem(
        code="shell_numbers_not_sure",
        severity=Severity.HINT,
        field="devices.visible",
        message=f"{_setting(inventory)}, and its numbers are taken in the order of nvidia-smi: "
        f"{_names(inventory, visible.gpus)}. Other programs count the GPU first that CUDA takes "
        "for the fastest.",
        hint="CUDA_DEVICE_ORDER=PCI_BUS_ID lets all of them count like nvidia-smi; a UUID always "
        "means the same GPU.",
        command=f"export {VISIBLE_DEVICES_VARIABLE}={','.join(gpu.key for gpu in visible.gpus)}",
    )


def named_and_hidden(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that the profile names and the shell hides: the profile counts."""
    inventory, visible = context.inventory, visible_gpus(context.inventory)
    if not context.profile.devices.visible or visible is None:
        return
    hidden = [gpu for gpu in context.gpus if gpu not in visible.gpus]
    if hidden:
        has_none = _job_has_none(inventory)
        yield Problem(
            code="profile_overrules_shell",
            severity=Severity.WARNING if has_none else Severity.HINT,
            field="devices.visible",
            message=f"The profile names {_names(inventory, hidden)}, and {_setting(inventory)}: "
            "what the profile names is used.",
            hint="They may be other people's: ask Slurm for GPUs, as by "
            f"#SBATCH --gres=gpu:{len(hidden)}, and train with --allocated, which takes those that "
            "it gives."
            if has_none
            else "Take the devices out of the profile to follow the shell.",
        )


def _setting(inventory: DeviceInventory) -> str:
    variables = inventory.cuda_variables
    if _job_has_none(inventory):
        return "Slurm has given this job no GPU"
    value = "" if variables is None else visible_beginning(variables.visible_devices or "")
    return f'{VISIBLE_DEVICES_VARIABLE} is "{value}" in the shell'


def _job_has_none(inventory: DeviceInventory) -> bool:
    """Whether nobody has set the variable: it is what a job of Slurm without GPUs means."""
    return inventory.cuda_variables is not None and inventory.cuda_variables.job_has_none


def _names(
    inventory: DeviceInventory, gpus: tuple[PhysicalDevice, ...] | list[PhysicalDevice]
) -> str:
    return ", ".join(inventory.name_of(gpu.key) for gpu in gpus)
