"""Whether the devices that a profile means are here, answer, and are of one kind."""

from collections.abc import Iterator

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.chosen_devices import lost_keys
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_answers import (
    nameless,
    never_answered,
    stopped_answering,
    unresponsive_among,
)
from gpupanel.planning.device_fixes import on_the_cpu, same_on_what_is_here
from gpupanel.planning.visible_gpus import default_gpus


def absent_devices(context: PlanningContext) -> Iterator[Problem]:
    """Devices that the profile names and that are not among those that answer."""
    profile, inventory = context.profile, context.inventory
    known = {key for device in inventory.devices for key in (device.key, device.key_on_node)}
    absent = tuple(key for key in profile.devices.visible if key not in known)
    if not absent:
        return
    fix = same_on_what_is_here(profile, inventory, absent)
    silent = unresponsive_among(absent, inventory)
    if silent:
        message, hint = never_answered(silent.values())
        yield _not_answering(f"{message}.", f"Choose other devices. {hint}", fix)
    rest = tuple(key for key in absent if key not in silent)
    candidates = nameless(inventory)
    if rest and candidates:
        said, hint = never_answered(candidates)
        message = f"{_listed(profile, rest)} not among those that answer. {said}; it may be that."
        yield _not_answering(message, f"Choose other devices. {hint}", fix)
    elif rest:
        yield Problem(
            code="device_not_found",
            field="devices.visible",
            message=f"{_listed(profile, rest)} not {_where(inventory)}.",
            hint="Choose among the devices that are here, or put the device back.",
            fix=fix,
        )


def unresponsive_devices(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that are counted and do not answer, where the profile means every GPU.

    Who means every GPU does not mean the CPU where none of them answers.
    """
    inventory = context.inventory
    if context.profile.devices.visible or not inventory.unresponsive:
        return
    if inventory.gpus:
        for gpu in inventory.unresponsive:
            message, hint = never_answered((gpu,))
            left_out = _not_answering(f"{message}. The others are used without it.", hint, None)
            yield left_out.model_copy(update={"severity": Severity.WARNING})
    else:
        message, hint = never_answered(inventory.unresponsive)
        yield _not_answering(f"{message}.", hint, on_the_cpu(context.profile, ()))


def _not_answering(message: str, hint: str, fix: Fix | None) -> Problem:
    return Problem(
        code="device_not_answering", field="devices.visible", message=message, hint=hint, fix=fix
    )


def lost_devices(context: PlanningContext) -> Iterator[Problem]:
    """Chosen devices that stopped answering: named by the profile, or meant by naming none.

    CUDA hides every device that stands behind an invalid one in ``CUDA_VISIBLE_DEVICES``: a run
    would start on other devices than the plan says.
    """
    profile = context.profile
    if not profile.devices.visible:
        yield from _left_out(context)
        return
    gone = lost_keys(context.known.sample)
    lost = [key for key in profile.devices.visible if key in gone]
    if not lost:
        return
    answering = [key for key in profile.devices.visible if key not in lost]
    gpus = tuple(key for key in profile.devices.visible if key != CPU_KEY)
    message, hint = stopped_answering(lost, context.inventory, context.known.sample)
    yield Problem(
        code="device_lost",
        field="devices.visible",
        message=f"{message}.",
        hint=f"Switch it off here. {hint}",
        fix=Fix.of("Use the others", "devices.visible", answering)
        if answering
        else on_the_cpu(profile, tuple(lost)),
        alternatives=() if set(answering) <= {CPU_KEY} else (on_the_cpu(profile, gpus),),
    )


def _left_out(context: PlanningContext) -> Iterator[Problem]:
    """GPUs that a profile means that names no device: the others work without them.

    Who means every GPU does not mean the CPU where all of them are lost.
    """
    gpus = default_gpus(context.inventory)
    gone = lost_keys(context.known.sample)
    lost = [gpu.key for gpu in gpus if gpu.key in gone]
    if not lost:
        return
    are_all = len(lost) == len(gpus)
    message, hint = stopped_answering(lost, context.inventory, context.known.sample)
    yield Problem(
        code="device_lost",
        severity=Severity.ERROR if are_all else Severity.WARNING,
        field="devices.visible",
        message=f"{message}{'' if are_all else ', and is left out'}.",
        hint=hint,
        fix=on_the_cpu(context.profile, tuple(lost)) if are_all else None,
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
