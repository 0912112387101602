"""Whether the devices that a profile means are here, answer, and are of one kind."""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.chosen_devices import lost_keys
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_the_cpu, same_on_what_is_here


def absent_devices(context: PlanningContext) -> Iterator[Problem]:
    """Devices that the profile names and this machine has not."""
    profile, inventory = context.profile, context.inventory
    known = {key for device in inventory.devices for key in (device.key, device.key_on_node)}
    absent = tuple(key for key in profile.devices.visible if key not in known)
    if absent:
        yield Problem(
            code="device_not_found",
            field="devices.visible",
            message=f"{_listed(profile, absent)} not {_where(inventory)}.",
            hint="Choose among the devices that are here, or put the device back.",
            fix=same_on_what_is_here(profile, inventory, absent),
        )


def lost_devices(context: PlanningContext) -> Iterator[Problem]:
    """Chosen devices that stopped answering: named by the profile, or meant by naming none.

    CUDA hides every device that stands behind an invalid one in ``CUDA_VISIBLE_DEVICES``: a run
    would start on other devices than the plan says.
    """
    profile, inventory = context.profile, context.inventory
    if not profile.devices.visible:
        yield from _left_out(context)
        return
    gone = lost_keys(context.sample)
    lost = [key for key in profile.devices.visible if key in gone]
    if not lost:
        return
    answering = [key for key in profile.devices.visible if key not in lost]
    gpus = tuple(key for key in profile.devices.visible if key != CPU_KEY)
    names = ", ".join(device.name for key in lost if (device := inventory.device(key)) is not None)
    yield Problem(
        code="device_lost",
        field="devices.visible",
        message=f"{names or lost[0]} stopped answering: it fell off the bus or its driver "
        "went away.",
        hint="Switch it off here; restarting the machine usually brings it back.",
        fix=Fix.of("Use the others", "devices.visible", answering)
        if answering
        else on_the_cpu(profile, tuple(lost)),
        alternatives=() if set(answering) <= {CPU_KEY} else (on_the_cpu(profile, gpus),),
    )


def _left_out(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that a profile means that names no device: the others work without them.

    Who means every GPU does not mean the CPU where all of them are lost.
    """
    gpus = context.inventory.gpus
    gone = lost_keys(context.sample)
    lost = [gpu for gpu in gpus if gpu.key in gone]
    if not lost:
        return
    are_all = len(lost) == len(gpus)
    yield Problem(
        code="device_lost",
        severity=Severity.ERROR if are_all else Severity.WARNING,
        field="devices.visible",
        message=f"{', '.join(gpu.name for gpu in lost)} stopped answering: it fell off the bus "
        f"or its driver went away{'' if are_all else ', and is left out'}.",
        hint="Restarting the machine usually brings it back.",
        fix=on_the_cpu(context.profile, tuple(gpu.key for gpu in lost)) if are_all else None,
    )


def _where(inventory: DeviceInventory) -> str:
    is_of_nodes = any(device.node is not None for device in inventory.devices)
    return "in this cluster now" if is_of_nodes else "in this machine"


def _listed(profile: Profile, keys: tuple[str, ...]) -> str:
    known = profile.devices.described
    names = [f"{known[key].name} ({key})" if key in known else key for key in keys]
    return f"The device {names[0]} is" if len(names) == 1 else f"The devices {', '.join(names)} are"


def mixed_kinds(context: PlanningContext) -> Iterator[Problem]:
    """CPU and GPUs chosen together: a step would wait for the CPU."""
    profile, gpus = context.profile, [gpu.key for gpu in context.gpus]
    if gpus and len(gpus) < len(context.devices):
        yield Problem(
            code="devices_mixed",
            field="devices.visible",
            message="The CPU and GPUs are chosen together, but replicas must be of one kind.",
            hint="Switch the CPU off; it feeds the GPUs in any case.",
            fix=Fix.of("Use the GPUs only", "devices.visible", gpus),
            alternatives=(on_the_cpu(profile, tuple(gpus)),),
        )
