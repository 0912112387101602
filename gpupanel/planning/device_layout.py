"""The logical devices of chosen devices and memory policies, and their environment."""

from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.memory import (
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.plan import PlannedDevice
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS


def grows(policy: MemoryPolicy) -> bool:
    """Whether TensorFlow's allocator starts small and grows under that policy."""
    if isinstance(policy, LimitedMemory | SplitMemory):
        return policy.growth
    return isinstance(policy, GrowingMemory)


def planned_devices(
    profile: Profile, devices: tuple[PhysicalDevice, ...]
) -> tuple[PlannedDevice, ...]:
    """How each chosen device is configured before TensorFlow initialises it.

    A logical device configuration anywhere cancels ``set_memory_growth`` everywhere, silently;
    growth then has to come from the environment (:func:`environment`), for every GPU at once. So
    limits grow, and the parts of a split, too.
    """
    counts = {DeviceKind.GPU: 0, DeviceKind.CPU: 0}
    planned = []
    for device in devices:
        limits = _logical_limits(profile, device)
        planned.append(
            PlannedDevice(
                key=device.key_on_node,
                kind=device.kind,
                name=device.name,
                index=counts[device.kind],
                memory_growth=device.is_gpu and grows(profile.memory_policy(device.key)),
                logical_limits_mib=limits,
                pci_bus_id=device.pci_bus_id,
                memory_total_mib=device.memory_total_mib,
            )
        )
        counts[device.kind] += 1
    if any(device.logical_limits_mib for device in planned):
        return tuple(device.model_copy(update={"memory_growth": False}) for device in planned)
    return tuple(planned)


def _logical_limits(profile: Profile, device: PhysicalDevice) -> tuple[int | None, ...]:
    if not device.is_gpu:
        # A logical CPU must have no limit; a single one needs no configuration at all. Workers
        # are processes: MultiWorkerMirroredStrategy uses one CPU device in each.
        in_gang = profile.strategy.kind in GANG_KINDS
        replicas = 1 if in_gang else profile.devices.cpu_replicas
        return (None,) * replicas if replicas > 1 else ()
    policy = profile.memory_policy(device.key)
    if isinstance(policy, LimitedMemory):
        return (policy.limit_mib,)
    return policy.split_mib if isinstance(policy, SplitMemory) else ()


def logical_devices(
    devices: tuple[PlannedDevice, ...],
) -> tuple[tuple[str, str, int | None], ...]:
    """Key of the physical device, TensorFlow's name and limit in MiB of each logical one, in order.

    TensorFlow numbers the logical devices of a kind through, over its physical devices.
    """
    counts = {DeviceKind.GPU: 0, DeviceKind.CPU: 0}
    named = []
    for device in devices:
        for limit in device.logical_limits_mib or (None,):
            name = f"/device:{device.kind.upper()}:{counts[device.kind]}"
            named.append((device.key, name, limit))
            counts[device.kind] += 1
    return tuple(named)


def environment(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> dict[str, str]:
    """Variables that the trainer's process gets besides those of its parent.

    CUDA numbers GPUs fastest first and NVML by PCI bus; naming them by UUID is the one way to
    mean the same GPU. The order of the list is the order in which TensorFlow numbers them.
    """
    gpus = [device for device in devices if device.is_gpu]
    if not gpus:
        return cpu_environment(profile)
    # Where some grow and some do not, none can: a rule says so, and no such run starts.
    grow = all(grows(profile.memory_policy(gpu.key)) for gpu in gpus)
    cuda_malloc_async = profile.devices.allocator is Allocator.CUDA_MALLOC_ASYNC
    # A shell in which somebody has turned it off for all programs keeps its word.
    without_peers = {} if profile.strategy.peer_to_peer else {"NCCL_P2P_DISABLE": "1"}
    # All others are written either way: a value of the person's shell would overrule the plan.
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(gpu.key for gpu in gpus),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true" if grow else "false",
        "TF_GPU_ALLOCATOR": Allocator.CUDA_MALLOC_ASYNC.value if cuda_malloc_async else "",
        # What TensorFlow leaves to others is what domain/memory.py says, and a limit lifts it.
        "TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "",
        # TensorFlow leaves out GPUs with fewer than 8 multiprocessors where another has more
        # (GetMinGPUMultiprocessorCount in gpu_device.cc); who chose one wants it.
        "TF_MIN_GPU_MULTIPROCESSOR_COUNT": "1",
        **without_peers,
        **_determinism(profile),
    }


def cpu_environment(profile: Profile) -> dict[str, str]:
    """The environment of a process that must not use a GPU."""
    return {"CUDA_VISIBLE_DEVICES": "-1", **_determinism(profile)}


def _determinism(profile: Profile) -> dict[str, str]:
    """Read by TensorFlow where ``tf.config.experimental.enable_op_determinism()`` was not called.

    A shell in which somebody has asked for it for all programs keeps its word.
    """
    return {"TF_DETERMINISTIC_OPS": "1"} if profile.training.deterministic else {}
