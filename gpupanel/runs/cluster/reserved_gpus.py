"""Which GPUs Ray has reserved for an agent: it counts them, and a plan names them."""

from collections.abc import Sequence

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, ProblemError


def reserved_gpus(visible: str, inventory: DeviceInventory) -> tuple[str, ...]:
    """The keys of the GPUs that Ray lets a process see.

    Args:
        visible: ``CUDA_VISIBLE_DEVICES`` as Ray has set it: numbers, which it counts in PCI bus
            order as NVML does, or UUIDs where it was started with some.
        inventory: The devices of this machine.
    """
    whole = [device.key for device in inventory.devices if device.is_gpu and not device.parent_key]
    known = {device.key for device in inventory.gpus}
    found = []
    for entry in filter(None, (each.strip() for each in visible.split(","))):
        if entry.isdecimal() and int(entry) < len(whole):
            found.append(whole[int(entry)])
        elif entry in known:
            found.append(entry)
    return tuple(found)


def check_reserved(wanted: Sequence[str], reserved: Sequence[str], node: str) -> None:
    """See that what was reserved is what the plan names.

    Raises:
        ProblemError: Ray would give one of them to another program, too.
    """
    missing = [key for key in wanted if key not in reserved]
    if missing:
        raise ProblemError(
            Problem(
                code="cluster_gives_other_gpus",
                field="devices.visible",
                message=f"Ray has not reserved {', '.join(missing)} of {node} for the run, but "
                f"{', '.join(reserved) or 'none that is known'}: others may use what was chosen.",
                hint="Choose those that Ray gives, or all GPUs of the node, or wait until the "
                "others are free.",
            )
        )
