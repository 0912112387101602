"""Which memory policies mean anything on the chosen devices."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.rules.allocator_rules import allocator_problems
from gpupanel.planning.rules.memory_size_rules import memory_size_problems


def memory_problems(
    profile: Profile,
    devices: tuple[PhysicalDevice, ...],
    inventory: DeviceInventory,
    sample: TelemetrySample | None,
) -> list[Problem]:
    """Every problem of the memory policies of the chosen devices."""
    gpus = tuple(device for device in devices if device.is_gpu)
    problems = [
        *_cpu_has_no_policy(profile),
        *_policy_without_gpus(profile, devices),
        *allocator_problems(profile, gpus),
        *_policy_of_absent_device(profile, inventory),
    ]
    for gpu in gpus:
        problems += memory_size_problems(profile, gpu, sample)
    return problems


def _cpu_has_no_policy(profile: Profile) -> list[Problem]:
    if CPU_KEY not in profile.memory:
        return []
    return [
        Problem(
            code="memory_policy_of_cpu",
            field=f"memory.{CPU_KEY}",
            message="TensorFlow cannot limit or grow the memory of the CPU.",
            hint="Remove this table; memory policies are for GPUs.",
            fix=Fix(label="Remove it", changes=(Change(path=("memory", CPU_KEY)),)),
        )
    ]


def _policy_without_gpus(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """A limit or a split for every GPU, where there is none: the run would not be what it says."""
    policy = profile.memory.get(DEFAULT_MEMORY_KEY)
    if any(device.is_gpu for device in devices) or not devices:
        return []
    if isinstance(policy, LimitedMemory):
        what, fix = "limit the memory of", None
    elif isinstance(policy, SplitMemory) and profile.devices.cpu_replicas == 1:
        what, parts = "split", len(policy.split_mib)
        fix = Fix(
            label=f"Make {parts} logical devices of the CPU",
            changes=(Change(path=("devices", "cpu_replicas"), value=parts),),
        )
    else:
        return []
    return [
        Problem(
            code="memory_policy_without_gpus",
            severity=Severity.WARNING,
            field=f"memory.{DEFAULT_MEMORY_KEY}",
            message=f"This profile means to {what} GPUs, and this run uses the CPU, whose "
            "memory TensorFlow neither limits nor splits.",
            hint="Logical devices of the CPU can stand in for the parts of a split GPU."
            if fix
            else "Choose a GPU, or let it run without a limit.",
            fix=fix,
        )
    ]


def _policy_of_absent_device(profile: Profile, inventory: DeviceInventory) -> list[Problem]:
    present = {DEFAULT_MEMORY_KEY, *(device.key for device in inventory.devices)}
    return [
        Problem(
            code="memory_policy_of_absent_device",
            severity=Severity.HINT,
            field=f"memory.{key}",
            message=f"The memory policy of {key} is not used: that GPU is not in this machine.",
            hint="Leave it for the machine it was made on, or remove it.",
            fix=Fix(label="Remove it", changes=(Change(path=("memory", key)),)),
        )
        for key in profile.memory
        if key not in present and key != CPU_KEY
    ]
