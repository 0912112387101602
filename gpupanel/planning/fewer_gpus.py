"""The same run where GPUs of it are lost: on the devices that are left."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import Known
from gpupanel.planning.device_fixes import on_the_cpu
from gpupanel.planning.fewer_nodes import on_nodes_there
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.resuming import changes_between
from gpupanel.planning.visible_gpus import default_gpus


def on_other_gpus(
    profile: Profile,
    inventory: DeviceInventory,
    lost: frozenset[str],
    sample: TelemetrySample | None = None,
) -> tuple[Profile, LaunchPlan] | None:
    """What the profile becomes on those of its GPUs that are left, and the plan for it.

    Args:
        profile: Of the run.
        inventory: The devices of the machine.
        lost: The keys of GPUs that do not answer any more.
        sample: What the devices report.

    Returns:
        ``None`` where none is left, or the rest cannot do it.
    """
    meant = profile.devices.visible or tuple(gpu.key for gpu in default_gpus(inventory))
    left = tuple(key for key in meant if key not in lost)
    if not any(key != CPU_KEY for key in left):
        return None
    named = profile.devices.model_copy(update={"visible": left})
    there = tuple(device for device in inventory.devices if device.key not in lost)
    return on_nodes_there(
        profile.model_copy(update={"devices": named}),
        inventory.model_copy(update={"devices": there}),
        sample,
    )


def resumed_without(
    profile: Profile,
    inventory: DeviceInventory,
    lost: frozenset[str],
    sample: TelemetrySample | None = None,
) -> tuple[Fix, ...]:
    """What lets a run go on whose GPUs are lost: on its other GPUs, and on the CPU.

    Args:
        profile: As for :func:`on_other_gpus`.
        inventory: As for :func:`on_other_gpus`.
        lost: As for :func:`on_other_gpus`.
        sample: As for :func:`on_other_gpus`.
    """
    fixes = []
    fewer = on_other_gpus(profile, inventory, lost, sample)
    if fewer is not None:
        names = ", ".join(inventory.name_of(device.key) for device in fewer[1].devices)
        changes = changes_between(profile, fewer[0])
        fixes.append(Fix(label=f"Resume on {names}", changes=changes))
    gpus = tuple(dict.fromkeys((*profile.devices.visible, *sorted(lost))))
    cpu = on_the_cpu(profile, tuple(key for key in gpus if key != CPU_KEY))
    if prepare(apply_fix(profile, cpu), inventory, Known(sample)).is_startable:
        fixes.append(cpu)
    return tuple(fixes)
