"""What TensorFlow really allows of memory policies, as problems with stable codes.

The facts are read from TensorFlow 2.21's ``tensorflow/python/eager/context.py``.
"""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, AllReduce, StrategyKind
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.workers import device_groups


def grows(policy: MemoryPolicy) -> bool:
    """Whether TensorFlow's allocator starts small and grows under that policy."""
    return isinstance(policy, GrowingMemory) or (
        isinstance(policy, LimitedMemory) and policy.growth
    )


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
        *_nccl_with_split(profile, gpus),
        *_policy_of_absent_device(profile, inventory),
    ]
    for gpu in gpus:
        problems += _more_than_there_is(profile, gpu, sample)
    return problems


def growth_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Growth that differs between the GPUs of one process; workers each have their own."""
    gpus = tuple(device for device in devices if device.is_gpu)
    groups = device_groups(profile, gpus) if profile.strategy.kind in GANG_KINDS else (gpus,)
    return [problem for group in groups for problem in _growth_differs(profile, group)]


def _growth_differs(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """TensorFlow raises ``Memory growth cannot differ between GPU devices``, and only late.

    Where one of them has a limit, it drops growth for all instead, silently.
    """
    policies = [profile.memory_policy(gpu.key) for gpu in gpus]
    growing = [gpu.name for gpu, policy in zip(gpus, policies, strict=True) if grows(policy)]
    if not growing or len(growing) == len(gpus):
        return []
    # A split GPU cannot grow: its limits are taken at the start.
    all_grow = not any(isinstance(policy, SplitMemory) for policy in policies)
    changes = tuple(
        Change(
            path=("memory", gpu.key),
            value=_with_growth(policy, growth=all_grow).model_dump(mode="json"),
        )
        for gpu, policy in zip(gpus, policies, strict=True)
    )
    return [
        Problem(
            code="memory_growth_differs",
            field="memory",
            message=(
                f"Memory growth is on for {', '.join(growing)} but not for the other GPUs; "
                "TensorFlow knows it for all GPUs of one process or for none."
            ),
            hint="Let every chosen GPU grow (limits may stay), or none.",
            fix=Fix(
                label="Let every chosen GPU grow" if all_grow else "Let none grow",
                changes=changes,
            ),
        )
    ]


def _with_growth(policy: MemoryPolicy, *, growth: bool) -> MemoryPolicy:
    if isinstance(policy, LimitedMemory):
        return policy.model_copy(update={"growth": growth})
    if growth:
        return GrowingMemory()
    return policy if isinstance(policy, SplitMemory) else AllMemory()


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


def _nccl_with_split(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Several logical devices of one GPU turn NCCL off: it wants one rank a GPU."""
    split = [gpu.name for gpu in gpus if isinstance(profile.memory_policy(gpu.key), SplitMemory)]
    mirrored = profile.strategy.kind is StrategyKind.MIRRORED
    if not split or not mirrored or profile.strategy.all_reduce is not AllReduce.NCCL:
        return []
    return [
        Problem(
            code="nccl_with_split",
            field="strategy.all_reduce",
            message=f"NCCL cannot sum over several logical devices of one GPU ({split[0]}).",
            hint="Let the strategy choose a way that works on split GPUs.",
            fix=Fix(
                label="Choose automatically",
                changes=(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value),),
            ),
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


def _more_than_there_is(
    profile: Profile, gpu: PhysicalDevice, sample: TelemetrySample | None
) -> list[Problem]:
    policy = profile.memory_policy(gpu.key)
    if isinstance(policy, LimitedMemory):
        wanted, field = policy.limit_mib, f"memory.{gpu.key}.limit_mib"
    elif isinstance(policy, SplitMemory):
        wanted, field = sum(policy.split_mib), f"memory.{gpu.key}.split_mib"
    else:
        return []
    if gpu.memory_total_mib is not None and wanted > gpu.memory_total_mib:
        return [
            Problem(
                code="memory_limit_above_total",
                field=field,
                message=f"{wanted} MiB of {gpu.name} are asked for, which has "
                f"{gpu.memory_total_mib} MiB.",
                hint="Lower the limit; the CUDA context takes some 500 MiB besides.",
            )
        ]
    free = _free_mib(gpu, sample)
    if free is not None and wanted > free:
        return [
            Problem(
                code="memory_limit_above_free",
                severity=Severity.WARNING,
                field=field,
                message=f"{wanted} MiB of {gpu.name} are asked for, but {free} MiB are free now.",
                hint="Lower the limit, or end what holds the rest.",
            )
        ]
    return []


def _free_mib(gpu: PhysicalDevice, sample: TelemetrySample | None) -> int | None:
    # Not total minus used: the driver keeps some hundred MiB for itself, which are neither.
    reading = sample.reading(gpu.key) if sample is not None else None
    return None if reading is None else reading.memory_free_mib
