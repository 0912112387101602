"""The same profile on the GPUs that a batch system has given to a job.

A batch system (Slurm, PBS, LSF, Grid Engine) says by ``CUDA_VISIBLE_DEVICES`` which GPUs of a node
belong to a job. Those of the profile are of another machine as a rule: what it says of its first
GPU is meant of the first one that was given.
"""

from gpupanel.domain.cuda_variables import PCI_BUS_ORDER
from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import DEFAULT_MEMORY_KEY, logical_device_count
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import setting_of
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.visible_gpus import VISIBLE_DEVICES_VARIABLE, named_gpus


def allocated_gpus(
    inventory: DeviceInventory, visible_devices: str | None
) -> tuple[PhysicalDevice, ...]:
    """The GPUs that ``CUDA_VISIBLE_DEVICES`` names, in its order.

    Its numbers are those of the PCI bus, in which Slurm counts the GPUs of a node.

    Args:
        inventory: The devices of this machine.
        visible_devices: The variable's value; ``None``: it is not set, and every GPU is meant.
    """
    if visible_devices is None:
        return inventory.gpus
    return named_gpus(inventory, visible_devices, PCI_BUS_ORDER).gpus


def on_allocated(
    profile: Profile, inventory: DeviceInventory, visible_devices: str | None
) -> tuple[Profile, tuple[Problem, ...]]:
    """The profile with the given GPUs in the places of those that it names, and what that changes.

    Memory policies go along by position. A strategy of one device takes the first GPU, all others
    take every GPU that was given; where these are more or fewer replicas than the profile has
    shares or quotas for, the shares become equal, and quotas follow the free memory. A profile that
    trains on the CPU stays as it is.

    Args:
        profile: What the person chose, on whatever machine.
        inventory: The devices of this machine.
        visible_devices: The value of ``CUDA_VISIBLE_DEVICES``; ``None``: it is not set.

    Returns:
        The profile, and hints about what is other than it says.

    Raises:
        ProblemError: It names GPUs, and none was given.
    """
    named = tuple(key for key in profile.devices.visible if key != CPU_KEY)
    if profile.devices.visible and not named:
        return profile, ()
    given = allocated_gpus(inventory, visible_devices)
    if not given and named:
        raise ProblemError(_none_allocated(len(named), inventory, visible_devices))
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        given = given[:1]
    keys = tuple(gpu.key for gpu in given) or (CPU_KEY,)
    moved = profile.model_copy(
        update={
            "devices": profile.devices.model_copy(update={"visible": keys, "described": {}}),
            "memory": _policies(profile, named, keys),
        }
    )
    problems = []
    if named and len(named) != len(keys):
        problems.append(_other_number(len(named), len(keys)))
    strategy = profile.strategy
    devices = sum(logical_device_count(moved.memory_policy(key)) for key in keys)
    replicas = devices // (strategy.devices_per_replica or 1)
    for name, then in (
        ("shares", "the shares are equal"),
        ("optimizer_state", "the optimizer's state is divided by free memory"),
    ):
        given = getattr(strategy, name)
        applies = setting_of(StrategySettings, name).applies_in(strategy)
        if applies and isinstance(given, tuple) and len(given) != replicas:
            fitting = {name: getattr(strategy.for_any_replicas(), name)}
            changed = moved.strategy.model_copy(update=fitting)
            moved = moved.model_copy(update={"strategy": changed})
            problems.append(_for_others(name, len(given), replicas, then))
    return moved, tuple(problems)


def _policies(profile: Profile, named: tuple[str, ...], keys: tuple[str, ...]) -> dict[str, object]:
    """Each policy at the GPU that stands in its place; those of GPUs without a place are gone."""
    memory = profile.memory
    kept = {key: memory[key] for key in (DEFAULT_MEMORY_KEY,) if key in memory}
    # Of a profile that names none, a policy of one GPU holds where that very GPU was given.
    before = named or keys
    return {
        **kept,
        **{new: memory[old] for old, new in zip(before, keys, strict=False) if old in memory},
    }


def _none_allocated(count: int, inventory: DeviceInventory, visible_devices: str | None) -> Problem:
    here = len(inventory.gpus)
    if visible_devices is None:
        said = f"{VISIBLE_DEVICES_VARIABLE} is not set"
    elif visible_devices:
        said = f'{VISIBLE_DEVICES_VARIABLE} is "{visible_line(visible_devices)}"'
    else:
        # Of a job of Slurm that asked for none the variable is not there.
        said = f"{VISIBLE_DEVICES_VARIABLE} leaves none, or Slurm has given none"
    return Problem(
        code="gpus_not_allocated",
        field="devices.visible",
        message=f"The profile trains on {count} {'GPU' if count == 1 else 'GPUs'}, and this job "
        "was given none.",
        hint=f"Ask the batch system for them: of Slurm, #SBATCH --gres=gpu:{count}.",
        detail=f"{said}, and the driver lists {here} {'GPU' if here == 1 else 'GPUs'}."
        + (f" {inventory.problem}" if inventory.problem else ""),
    )


def _other_number(wanted: int, given: int) -> Problem:
    return Problem(
        code="gpus_allocated_otherwise",
        severity=Severity.HINT,
        field="devices.visible",
        message=f"The profile names {wanted} {'GPU' if wanted == 1 else 'GPUs'}, and the run has "
        f"{given} of those that this job was given.",
        hint="The global batch is the same on any number of them, and so are the weights.",
    )


def _for_others(name: str, given: int, replicas: int, then: str) -> Problem:
    what = "shares" if name == "shares" else "quotas"
    return Problem(
        code="gpus_allocated_otherwise",
        severity=Severity.HINT,
        field=f"strategy.{name}",
        message=f"The profile has {what} for {given} replicas, and there "
        f"{'is' if replicas == 1 else 'are'} {replicas} here: {then}.",
        hint=f"Ask for as many GPUs as the profile names to keep its {what}.",
    )
